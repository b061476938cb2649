-- Recurring jobs. Occurrences are times of a calendar, which SQL does not know: the caller computes them from the
-- database's own time, and the row says which one is next.

create table "unstuck".schedules (
  attachment      text not null references "unstuck".attachments on delete cascade,
  name            text not null,
  cron            text not null,
  timezone        text not null,
  overlap         text not null check (overlap in ('allow', 'skip')),
  -- As enqueue_jobs takes it.
  job             jsonb not null,
  -- NULL: no occurrence is left. Whole milliseconds, for clients whose times have no more.
  next_run_at     timestamptz(3),
  last_run_at     timestamptz,
  last_job_id     text,
  last_skipped_at timestamptz,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (attachment, name)
);

create type "unstuck".schedule_status as (
  name text, cron text, timezone text, overlap text, job jsonb, next_run_at timestamptz, due_in_ms float8,
  last_run_at timestamptz, last_job_id text, last_skipped_at timestamptz
);
