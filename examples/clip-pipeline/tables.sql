-- The tables of a video pipeline that knows nothing of unstuck.
create table if not exists jobs (
  id                uuid primary key default gen_random_uuid(),
  status            text not null default 'queued',
  payload           jsonb not null default '{}',
  last_heartbeat_at timestamptz,
  attempt_count     int not null default 0,
  started_at        timestamptz,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now()
);
create table if not exists asr_jobs (like jobs including all);
create table if not exists job_events (
  id     bigint generated always as identity primary key,
  job_id uuid not null,
  data   jsonb not null
);
