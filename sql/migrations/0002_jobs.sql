-- Jobs, their events, and the sweeps that rescue them.

-- Counters and times that most jobs never need are NULL until they do, which keeps rows narrow. Free space on each page
-- (fillfactor), and no index on the columns of a heartbeat, keep heartbeats HOT. Columns that the conditions of indexes
-- read come early: every update reads the row up to the last of them. Columns that claims and completions write stand
-- together: WAL has what lies between the first and the last of them (docs/adr/0058). Kept by `migrate down`, and
-- adopted by the next install.
create table if not exists "unstuck"."jobs" (
  "id"                   /*id*/uuid primary key,
  "created_at"           timestamptz not null default now(),
  "priority"             int not null default 0,
  "generation"           int not null default 1,
  "status"               text not null default /*waiting*/'waiting'
    check ("status" in ('waiting', 'running', 'succeeded', 'dead', 'cancelled')),
  "type"                 text not null,
  "queue"                text,
  "group_key"            text,
  "dedupe_key"           text,
  "updated_at"           timestamptz not null default now(),
  "fence"                bigint not null default 0,
  "attempt"              int not null default 0,
  "run_at"               timestamptz,
  -- Start of the first attempt, and of the newest.
  "started_at"           timestamptz,
  "last_attempt_at"      timestamptz,
  "finished_at"          timestamptz,
  "heartbeat_at"         timestamptz,
  "lease_expires_at"     timestamptz,
  "deadline_at"          timestamptz,
  "lease_id"             uuid,
  "finished_lease_id"    uuid,
  "worker_id"            text,
  "payload"              jsonb not null default '{}',
  "owner"                text,
  "queued_at"            timestamptz,
  "stage"                text,
  "expected_duration_ms" bigint,
  "failures"             int,
  "crashes"              int,
  "timeouts"             int,
  "releases"             int,
  "interruptions"        int,
  "max_attempts"         int,
  "backoff_steps_ms"     bigint[],
  "expires_at"           timestamptz,
  "cancel_requested_at"  timestamptz,
  "reaped_at"            timestamptz,
  "error_code"           text,
  "error_reason"         text,
  "error_category"       text,
  "error_stack"          text,
  "error_attempt"        int,
  "result"               jsonb,
  "progress_value"       float8,
  "progress_text"        text,
  "traceparent"          text
) with (fillfactor = 70);

-- Kept by `migrate down`, like jobs.
create table if not exists "unstuck".events (
  id         bigint generated always as identity primary key,
  attachment text not null,
  job_id     text not null,
  type       text not null,
  at         timestamptz not null,
  -- { type, table, details, at }, as in a team's own job_events table.
  data       jsonb not null
);
create index if not exists events_of_job on "unstuck".events (attachment, job_id, id);
-- The one event left of a discarded job cannot be deleted with it: retention finds it by time.
create index if not exists events_discarded on "unstuck".events (attachment, at) where type = 'discarded';
-- Rescues are few among the events of a table that records all of them.
create index if not exists events_rescues on "unstuck".events (attachment, at)
  where type = 'processing' and data #>> '{details,rescued_after_ms}' is not null;
create index if not exists events_by_actor on "unstuck".events (at, id)
  where data #>> '{details,actor}' is not null and data #> '{details,worker_id}' is null
    and type in ('queued', 'cancelled', 'cancel-requested', 'discarded');
create index if not exists events_reclaims on "unstuck".events (attachment, id)
  where type in ('reaper:requeued', 'reaper:failed(timeout)', 'reaper:cancelled');

-- Rows to lock for dedupe keys where the job table has no unique index on them. A key maps to one of 65,536 slots: the
-- table stays small without cleanup, and two keys that share a slot only wait for each other.
create table "unstuck".dedupe_locks (
  slot int primary key
) with (fillfactor = 50);

-- Workers that run a job alone because its next crash would end it, or that take no more jobs until they can (REAP-15).
-- At most one row per worker, and none unless jobs crash.
create table "unstuck".kept_workers (
  attachment text not null references "unstuck".attachments on delete cascade,
  worker_id  text not null,
  job_id     text not null,
  queue      text not null,
  -- Lease of the job; NULL while the worker still finishes its other jobs.
  lease_id   uuid,
  -- Last request for jobs while it finishes others: the reservation of a silent worker lapses.
  seen_at    timestamptz not null,
  primary key (attachment, worker_id)
);

-- One row per attached table: the last sweep by anyone, and the outages being waited out.
create table "unstuck".sweeps (
  attachment        text primary key references "unstuck".attachments on delete cascade,
  reaper_id         text,
  swept_at          timestamptz,
  duration_ms       float8,
  found             int,
  requeued          int,
  dead              int,
  cancelled         int,
  skipped           int,
  held              int,
  hold_reason       text,
  -- Last contact of a reaper that connects over the network.
  reached_at        timestamptz,
  server_started_at timestamptz,
  -- As server_epoch() returns it: the start time stays the same after a crash recovery.
  server_epoch      text,
  -- Outages that may still be waited out (C9), from the start of the first to the end of the last.
  outages           tstzmultirange not null default '{}',
  outage_from       timestamptz,
  outage_to         timestamptz,
  -- Last sweep that got through before one that met a locked table; NULL while sweeps get through.
  locked_since      timestamptz
);

-- Written step by step, each in its own transaction. Sweeps that found nothing have no row.
create table "unstuck".sweep_history (
  attachment  text not null references "unstuck".attachments on delete cascade,
  id          uuid not null,
  began_at    timestamptz not null,
  -- NULL for a manual sweep.
  reaper_id   text,
  actor       text,
  reason      text,
  duration_ms float8 not null,
  found       int not null,
  requeued    int not null,
  dead        int not null,
  cancelled   int not null,
  -- Rows locked by others.
  skipped     int not null,
  held        int not null,
  hold_reason text,
  primary key (attachment, id)
);

-- Actions that sweeps would have taken on a table in mode observe: one row for each expired lease.
create table "unstuck".observations (
  attachment text not null references "unstuck".attachments on delete cascade,
  job_id     text not null,
  -- The lease id; worker and attempt of a running row without a lease.
  lease      text not null,
  verdict    text not null check (verdict in ('requeued', 'dead', 'cancelled')),
  reason     text not null,
  stage      text,
  worker_id  text,
  -- Last sign of life: the end of the lease, or the newest of the row's times.
  sign_at    timestamptz,
  seen_at    timestamptz not null,
  -- NULL until the job moves.
  outcome    text check (outcome in ('came-back', 'still-stuck', 'reaped', 'gone')),
  outcome_at timestamptz,
  primary key (attachment, job_id, lease)
);
create index observations_open on "unstuck".observations (attachment) where outcome is null;

-- Durations in milliseconds from the claim. The fence is text, for drivers without 64-bit integers.
create type "unstuck".claimed_job as (
  id text, lease_id uuid, fence text, type text, queue text, payload jsonb, priority int, stage text, owner text,
  attempt int, failures int, crashes int, timeouts int, max_attempts int, generation int,
  created_at timestamptz, started_at timestamptz, expected_duration_ms float8, lease_ms float8, deadline_ms float8,
  traceparent text, is_rescue boolean
);

create type "unstuck".new_event as (job_id text, type text, details jsonb);

create type "unstuck".heartbeat_answer as (id text, lease_id uuid, answer text, reaper_age_ms float8);

create type "unstuck".job_outcome as (id text, outcome text, retry_in_ms float8);

create type "unstuck".reaped_job as (
  id text, action text, reason text, stage text, attempt int, worker_id text, retry_in_ms float8
);
