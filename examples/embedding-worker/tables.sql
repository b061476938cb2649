-- The table of a worker that embeds texts and knows nothing of unstuck.
create table if not exists embedding_jobs (
  id          uuid primary key default gen_random_uuid(),
  document_id text not null default '',
  status      text not null default 'pending',
  lock_owner  text,
  lock_until  timestamptz,
  attempts    int not null default 0,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz
);
-- From before the last retention: `unstuck prune`, or a worker within its first minute and then every hour, deletes it.
insert into embedding_jobs (document_id, status, created_at, updated_at)
select 'from last year', 'completed', now() - interval '1 year', now() - interval '1 year'
 where not exists (select from embedding_jobs);
