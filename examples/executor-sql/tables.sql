-- The table of a Supabase project whose edge functions work on it, and that knows nothing of unstuck.
create table if not exists public.executor_jobs (
  id         uuid primary key default gen_random_uuid(),
  dedupe_key text,
  type       text not null,
  status     text not null default 'queued',
  payload    jsonb not null default '{}',
  attempts   int not null default 0,
  locked_at  timestamptz,
  locked_by  text,
  last_error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz default now()
);
