create schema if not exists "unstuck";
create table if not exists "unstuck".migrations (
  name       text primary key,
  applied_at timestamptz not null default now()
);
