-- What every attached table shares: who is attached, its policy, the story of its jobs, and the pulse of its reapers.

-- Domains, because a policy is checked alike when it is stored and when a call overrides it. Their comments are the end
-- of the message that refuses a value: "max_attempts: got 0, takes …".
create domain "unstuck".duration_ms as bigint
  constraint takes_milliseconds_from_0_to_one_year check (value between 0 and 31536000000);
comment on domain "unstuck".duration_ms is 'milliseconds from 0 to one year';
create domain "unstuck".lease_ms as bigint
  constraint takes_milliseconds_from_1_to_one_year check (value between 1 and 31536000000);
comment on domain "unstuck".lease_ms is 'milliseconds from 1 to one year';
create domain "unstuck".backoff_steps_ms as bigint[]
  constraint takes_steps_of_0_ms_to_one_year
  check (array_position(value, null) is null and 0 <= all (value) and 31536000000 >= all (value));
comment on domain "unstuck".backoff_steps_ms is 'an array of milliseconds from 0 to one year';
create domain "unstuck".attempt_limit as int
  constraint takes_a_number_from_1_to_1000 check (value between 1 and 1000);
comment on domain "unstuck".attempt_limit is 'a whole number from 1 to 1000';
create domain "unstuck".rate_per_s as float8
  constraint takes_0_to_1000000 check (value between 0 and 1000000);
comment on domain "unstuck".rate_per_s is 'a number from 0 to 1000000';
create domain "unstuck".retention_days as int
  constraint takes_a_number_from_1_to_3650 check (value between 1 and 3650);
comment on domain "unstuck".retention_days is 'a whole number from 1 to 3650';
create domain "unstuck".stage_name as text
  constraint takes_1_to_200_characters check (length(value) between 1 and 200);
comment on domain "unstuck".stage_name is '1 to 200 characters, or null';

-- By stage. Whole milliseconds: half of one would be rounded to a lease of none.
create domain "unstuck".leases_by_stage as jsonb
  constraint takes_an_object_of_stage_and_lease
  check (jsonb_typeof(value) = 'object' and not jsonb_path_exists(
    value, 'strict $.* ? (@.type() != "number" || @ < 1 || @ > 31536000000 || @.floor() != @)'));
comment on domain "unstuck".leases_by_stage is 'an object of stages, each with whole milliseconds from 1 to one year';
create domain "unstuck".deadlines_by_stage as jsonb
  constraint takes_an_object_of_stage_and_deadline
  check (jsonb_typeof(value) = 'object' and not jsonb_path_exists(
    value, 'strict $.* ? (@.type() != "number" || @ < 0 || @ > 31536000000 || @.floor() != @)'));
comment on domain "unstuck".deadlines_by_stage is
  'an object of stages, each with whole milliseconds from 0 (off) to one year';
create domain "unstuck".factors_by_stage as jsonb
  constraint takes_an_object_of_stage_and_factor
  check (jsonb_typeof(value) = 'object' and not jsonb_path_exists(
    value, 'strict $.* ? (@.type() != "number" || @ < 0 || @ > 1000)'));
comment on domain "unstuck".factors_by_stage is 'an object of stages, each with a factor from 0 to 1000';

create domain "unstuck".attempt_counting as text
  constraint takes_claim_failure_or_failure_and_reap check (value in ('claim', 'failure', 'failure-and-reap'));
comment on domain "unstuck".attempt_counting is 'claim, failure or failure-and-reap';
create domain "unstuck".failure_bound as text
  constraint takes_attempts_or_failures check (value in ('attempts', 'failures'));
comment on domain "unstuck".failure_bound is 'attempts or failures';
create domain "unstuck".reap_bound as text
  constraint takes_attempts_or_crashes check (value in ('attempts', 'crashes'));
comment on domain "unstuck".reap_bound is 'attempts or crashes';
create domain "unstuck".told_events as text
  constraint takes_recovery_or_all check (value in ('recovery', 'all'));
comment on domain "unstuck".told_events is 'recovery or all';

create table "unstuck".attachments (
  name         text primary key,
  profile      text not null,
  table_schema text not null,
  table_name   text not null,
  -- Tells a table that was renamed from another one.
  table_oid    oid,
  -- What attach made, on the team's table and beside it, so that detach can take exactly that out again.
  added_columns text[] not null default '{}',
  added_indexes text[] not null default '{}',
  functions     text[] not null default '{}',
  -- Of the rendered functions: tells `migrate status` whether they are those of this version.
  functions_digest text,
  attached_at  timestamptz not null default now(),
  unique (table_schema, table_name)
);

-- Names are those of src/policy/policy.ts in snake case; the defaults are the native table's.
create table "unstuck".policies (
  attachment                text primary key references "unstuck".attachments on delete cascade,
  attempt_counted_at        "unstuck".attempt_counting not null default 'claim',
  failure_budget            "unstuck".failure_bound not null default 'failures',
  reap_budget               "unstuck".reap_bound not null default 'crashes',
  max_attempts              "unstuck".attempt_limit not null default 3,
  max_crashes               "unstuck".attempt_limit not null default 3,
  max_timeouts              "unstuck".attempt_limit not null default 3,
  default_lease_ms          "unstuck".lease_ms not null default 300000,
  stage_leases_ms           "unstuck".leases_by_stage not null default '{}',
  stage_factors             "unstuck".factors_by_stage not null default '{}',
  default_stage             "unstuck".stage_name,
  default_deadline_ms       "unstuck".duration_ms not null default 86400000,
  stage_deadlines_ms        "unstuck".deadlines_by_stage not null default '{}',
  heartbeat_ms              "unstuck".lease_ms not null default 15000,
  sweep_interval_ms         "unstuck".lease_ms not null default 60000,
  reap_backoff_steps_ms     "unstuck".backoff_steps_ms not null default '{30000,120000,600000}',
  reap_backoff_base_ms      "unstuck".duration_ms not null default 30000,
  reap_backoff_max_ms       "unstuck".duration_ms not null default 600000,
  failure_backoff_steps_ms  "unstuck".backoff_steps_ms not null default '{}',
  failure_backoff_base_ms   "unstuck".duration_ms not null default 5000,
  failure_backoff_max_ms    "unstuck".duration_ms not null default 3600000,
  failure_backoff_jitter_ms "unstuck".duration_ms not null default 5000,
  requeue_rate_per_s        "unstuck".rate_per_s not null default 50,
  legacy_age_rule           boolean not null default false,
  retention_days            "unstuck".retention_days not null default 14,
  events                    "unstuck".told_events not null default 'recovery',
  -- Or a job that only ever crashes would never end.
  constraint reaps_bounded_by_attempts_count_them check (reap_budget <> 'attempts' or attempt_counted_at <> 'failure')
);
comment on column "unstuck".policies.legacy_age_rule is 'true or false';

-- Kept when the engine is taken out, as native jobs are, and found again by the next install.
create table if not exists "unstuck".events (
  id         bigint generated always as identity primary key,
  attachment text not null,
  job_id     text not null,
  type       text not null,
  at         timestamptz not null,
  -- { type, table, details, at }: the shape a team's own job_events table gets too.
  data       jsonb not null
);
create index if not exists events_of_job on "unstuck".events (attachment, job_id, id);

-- One row per attached table: the last sweep by anyone, and the outage that is being waited out.
create table "unstuck".sweeps (
  attachment        text primary key references "unstuck".attachments on delete cascade,
  reaper_id         text,
  swept_at          timestamptz,
  server_started_at timestamptz,
  outage_from       timestamptz,
  outage_to         timestamptz,
  hold_reason       text
);

-- What a claim hands out. Durations in milliseconds from the moment of the claim; the fence as text, for every driver.
create type "unstuck".claimed_job as (
  id text, lease_id uuid, fence text, type text, queue text, payload jsonb, priority int, stage text, owner text,
  attempt int, failures int, crashes int, timeouts int, max_attempts int, generation int,
  created_at timestamptz, started_at timestamptz, expected_duration_ms float8, lease_ms float8, deadline_ms float8,
  traceparent text, is_rescue boolean
);

-- A locked job on its way from a claim's locking SELECT to the UPDATE that grants the lease.
create type "unstuck".picked_job as (
  id text, stage text, lease_ms bigint, deadline_ms bigint, reaped_at timestamptz
);

create type "unstuck".new_event as (job_id text, type text, details jsonb);

create type "unstuck".heartbeat_answer as (id text, lease_id uuid, answer text, reaper_age_ms float8);

create type "unstuck".settled_job as (id text, outcome text, retry_in_ms float8);

create type "unstuck".reaped_job as (
  id text, action text, reason text, stage text, attempt int, worker_id text, retry_in_ms float8
);
