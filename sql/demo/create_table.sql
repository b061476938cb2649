-- The hand-rolled table of the demo, as many teams have it: a status, and nothing that rescues stuck jobs.
create schema "demo";
create table "demo".jobs (
  id bigint primary key,
  kind text not null,
  duration_ms int not null,
  status text not null default 'waiting',
  worker text,
  started_at timestamptz,
  finished_at timestamptz
);
