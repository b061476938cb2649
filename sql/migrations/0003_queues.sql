-- Queue controls: circuit breakers, pauses, rate limits and schedules. Breakers and limits belong to the service they
-- protect, not to a job table: attached tables share them by name.

create table "unstuck".breakers (
  name              text primary key,
  -- Settings: the names of src/policy/dependency/breaker.ts in snake case.
  mode              text not null default 'half-open' check (mode in ('hold', 'half-open')),
  window_calls      int not null default 20 check (window_calls between 1 and 1000),
  -- NULL: calls count however old they are.
  window_ms         "unstuck".lease_ms,
  min_calls         int not null default 10 check (min_calls between 1 and 1000),
  fail_threshold    float8 not null default 0.5 check (fail_threshold > 0 and fail_threshold <= 1),
  cooldown_ms       "unstuck".duration_ms not null default 30000,
  close_after       int not null default 3 check (close_after between 1 and 1000),
  probe_interval_ms "unstuck".duration_ms not null default 1000,
  probe_slots       int not null default 1 check (probe_slots between 1 and 1000),
  probe_timeout_ms  "unstuck".lease_ms not null default 60000,
  -- The last calls, oldest first; true is a failure.
  calls             boolean[] not null default '{}',
  -- Their times, if window_ms is set.
  called_at         timestamptz[] not null default '{}',
  is_open           boolean not null default false,
  -- Consecutive successful probes since it opened.
  successes         int not null default 0,
  cooldown_until    timestamptz,
  -- Last successful health probe.
  probed_at         timestamptz,
  -- Consecutive early reopenings: in mode hold soon after a probe closed it, in mode half-open by a failed probe job.
  reopens           int not null default 0,
  -- When probes last closed it.
  closed_at         timestamptz,
  -- Written with every slot, so that claims under repeatable read conflict in this row.
  slot_taken_at     timestamptz,
  -- Set by an operator; held_until NULL holds it until somebody resumes it.
  held_at           timestamptz,
  held_until        timestamptz,
  changed_at        timestamptz not null default now(),
  changed_by        text,
  reason            text
) with (fillfactor = 70);

-- The service that the jobs of a queue call.
create table "unstuck".dependencies (
  attachment text not null references "unstuck".attachments on delete cascade,
  queue      text not null,
  name       text not null references "unstuck".breakers on delete cascade,
  primary key (attachment, queue)
);
create index dependencies_of_breaker on "unstuck".dependencies (name);

-- Jobs that a half-open breaker let through.
create table "unstuck".probes (
  breaker    text not null references "unstuck".breakers on delete cascade,
  attachment text not null references "unstuck".attachments on delete cascade,
  job_id     text not null,
  granted_at timestamptz not null,
  -- The job met the failure that keeps the breaker open, which costs it no attempt. Kept until the breaker closes.
  failed_at  timestamptz,
  primary key (breaker, attachment, job_id)
);

create table "unstuck".pauses (
  attachment   text not null references "unstuck".attachments on delete cascade,
  queue        text not null,
  paused_at    timestamptz not null,
  -- NULL: until somebody resumes it.
  paused_until timestamptz,
  paused_by    text,
  reason       text,
  primary key (attachment, queue)
);

-- A token bucket is stored as the time at which it will be full again (GCRA). A full bucket needs no row.
create table "unstuck".rate_limits (
  key        text primary key,
  full_at    timestamptz not null,
  -- As the last caller set them.
  rate_per_s float8,
  burst      int,
  used_at    timestamptz
) with (fillfactor = 50);

-- Recurring jobs. SQL knows no cron expressions: the caller computes the next occurrence from the database's clock.
create table "unstuck".schedules (
  attachment      text not null references "unstuck".attachments on delete cascade,
  name            text not null,
  cron            text not null,
  timezone        text not null,
  overlap         text not null check (overlap in ('allow', 'skip')),
  -- An argument of enqueue_jobs.
  job             jsonb not null,
  -- NULL: no occurrence is left. Whole milliseconds, for clients whose clocks have no finer unit.
  next_run_at     timestamptz(3),
  last_run_at     timestamptz,
  last_job_id     text,
  last_skipped_at timestamptz,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (attachment, name)
);

create type "unstuck".breaker_status as (
  name text, state text, since timestamptz, changed_by text, reason text, calls int, failures int, successes int,
  probing int, next_probe_in_ms float8, held_for_ms float8, settings jsonb, queues jsonb, last_calls jsonb, reopens int,
  early_probe_in_ms float8
);

create type "unstuck".schedule_status as (
  name text, cron text, timezone text, overlap text, job jsonb, next_run_at timestamptz, due_in_ms float8,
  last_run_at timestamptz, last_job_id text, last_skipped_at timestamptz
);
