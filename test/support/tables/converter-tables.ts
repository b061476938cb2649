// The table of document 004 as Prisma would have made it: camelCase in the client, one snake_case name in the database.
export const converterTables = `
  create table conversion_jobs (
    id               text primary key,
    owner            text,
    payload          jsonb not null default '{}',
    status           text not null default 'queued',
    attempt_count    integer not null default 0,
    last_attempt_at  timestamptz(6),
    retry_after      timestamptz(6),
    leased_by        text,
    lease_expires_at timestamptz(6),
    error_code       text,
    error_message    text,
    started_at       timestamptz(6),
    queued_at        timestamptz(6) not null default current_timestamp,
    created_at       timestamptz(6) not null default current_timestamp,
    updated_at       timestamptz(6) not null default current_timestamp
  );
  create index conversion_jobs_status_retry_after_idx on conversion_jobs (status, retry_after);
`
