// The table of document 002 as an application would have made it before it knew unstuck.
export const embeddingTables = `
  create table embedding_jobs (
    id          uuid primary key default gen_random_uuid(),
    document_id text,
    status      text not null default 'pending' check (status in ('pending', 'processing', 'completed', 'failed')),
    lock_owner  text,
    lock_until  timestamptz,
    attempts    int not null default 0,
    created_at  timestamptz not null default now(),
    updated_at  timestamptz
  );
`
