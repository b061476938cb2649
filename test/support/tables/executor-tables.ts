// The table of the executor as a Supabase project would have made it before it knew unstuck (document 003).
export const executorTables = `
  create table public.executor_jobs (
    id         uuid primary key default gen_random_uuid(),
    dedupe_key text,
    type       text not null,
    status     text not null default 'queued'
      check (status in ('queued', 'running', 'processing', 'succeeded', 'failed', 'dead')),
    payload    jsonb not null default '{}',
    attempts   int not null default 0,
    locked_at  timestamptz,
    locked_by  text,
    last_error text,
    created_at timestamptz not null default now(),
    updated_at timestamptz default now()
  );
`
