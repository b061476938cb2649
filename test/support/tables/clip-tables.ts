// The tables of the clip pipeline as an application would have made them before it knew unstuck (documents 000 and 001).
export const clipTables = `
  create table jobs (
    id                uuid primary key default gen_random_uuid(),
    status            text not null default 'queued' check (status in ('queued', 'processing', 'completed', 'failed')),
    payload           jsonb not null default '{}',
    last_heartbeat_at timestamptz,
    attempt_count     int not null default 0,
    started_at        timestamptz,
    created_at        timestamptz not null default now(),
    updated_at        timestamptz not null default now()
  );
  create index idx_jobs_status_heartbeat on jobs (status, last_heartbeat_at);
  create table asr_jobs (
    id                uuid primary key default gen_random_uuid(),
    status            text not null default 'queued',
    video_url         text,
    last_heartbeat_at timestamptz,
    attempt_count     int not null default 0,
    started_at        timestamptz,
    created_at        timestamptz not null default now(),
    updated_at        timestamptz
  );
  create table job_events (
    id     bigint generated always as identity primary key,
    job_id uuid not null,
    data   jsonb not null
  );
`
