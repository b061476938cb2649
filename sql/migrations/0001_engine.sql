-- The attached tables and their policies.

-- A policy is checked by domains, both when it is stored and when a call overrides it. The comment on a domain ends the
-- message that refuses a value: "max_attempts: got 0, takes …".
create domain "unstuck".duration_ms as bigint
  constraint takes_milliseconds_from_0_to_one_year check (value between 0 and 31536000000);
comment on domain "unstuck".duration_ms is 'milliseconds from 0 to one year';
create domain "unstuck".runtime_ms as bigint
  constraint takes_milliseconds_from_0_to_one_year check (value between 0 and 31536000000);
comment on domain "unstuck".runtime_ms is 'milliseconds from 0 (off) to one year';
create domain "unstuck".lease_ms as bigint
  constraint takes_milliseconds_from_1_to_one_year check (value between 1 and 31536000000);
comment on domain "unstuck".lease_ms is 'milliseconds from 1 to one year';
create domain "unstuck".backoff_steps_ms as bigint[]
  constraint takes_steps_of_0_ms_to_one_year
  check (coalesce(array_ndims(value), 1) = 1 and array_position(value, null) is null and 0 <= all (value)
         and 31536000000 >= all (value));
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

-- Keyed by stage or type. Whole milliseconds only: 0.5 would round to a lease of 0.
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
create domain "unstuck".deadlines_by_type as jsonb
  constraint takes_an_object_of_type_and_deadline
  check (jsonb_typeof(value) = 'object' and not jsonb_path_exists(
    value, 'strict $.* ? (@.type() != "number" || @ < 0 || @ > 31536000000 || @.floor() != @)'));
comment on domain "unstuck".deadlines_by_type is
  'an object of types, each with whole milliseconds from 0 (off) to one year';
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
create domain "unstuck".judged_stages as text
  constraint takes_all_or_listed check (value in ('all', 'listed'));
comment on domain "unstuck".judged_stages is 'all or listed';
create domain "unstuck".recorded_events as text
  constraint takes_recovery_or_all check (value in ('recovery', 'all'));
comment on domain "unstuck".recorded_events is 'recovery or all';
create domain "unstuck".dispatched_jobs as text
  constraint takes_off_or_requeued check (value in ('off', 'requeued'));
comment on domain "unstuck".dispatched_jobs is 'off or requeued';
create domain "unstuck".on_or_off as text
  constraint takes_on_or_off check (value in ('on', 'off'));
comment on domain "unstuck".on_or_off is 'on or off';

create table "unstuck".attachments (
  name              text primary key,
  profile           text not null,
  table_schema      text not null,
  table_name        text not null,
  -- Identifies the table after a rename.
  table_oid         oid,
  -- Added by attach, and removed by detach.
  added_columns     text[] not null default '{}',
  added_indexes     text[] not null default '{}',
  functions         text[] not null default '{}',
  -- Digest of the rendered functions, for `migrate status`.
  functions_digest  text,
  attached_at       timestamptz not null default now(),
  -- observe only looks, reap rescues jobs, enforce also fences writers that know no leases.
  mode              text not null default 'reap' check (mode in ('observe', 'reap', 'enforce')),
  -- NULL until the mode is changed.
  mode_since        timestamptz,
  on_foreign_settle text not null default 'record' check (on_foreign_settle in ('record', 'refuse')),
  unique (table_schema, table_name)
);

-- The settings of src/policy/policy.ts in snake case. The defaults are those of the native table.
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
  -- One attempt, over all its stages.
  max_runtime_ms            "unstuck".runtime_ms not null default 86400000,
  type_runtimes_ms          "unstuck".deadlines_by_type not null default '{}',
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
  -- Running rows without a lease that are judged by their age: none, all, or those of a stage with its own lease.
  legacy_age_rule           boolean not null default false,
  legacy_age_stages         "unstuck".judged_stages not null default 'all',
  retention_days            "unstuck".retention_days not null default 14,
  events                    "unstuck".recorded_events not null default 'recovery',
  notify                    "unstuck".on_or_off not null default 'on',
  dispatch                  "unstuck".dispatched_jobs not null default 'off',
  -- A copy of the mode, written by set_mode, for verbs that read their policy anyway. Reading attachments would cost
  -- each of them 17 µs, a fifth of an empty claim.
  is_observed               boolean not null default false,
  -- Otherwise a job that only ever crashes would never end.
  constraint reaps_bounded_by_attempts_count_them check (reap_budget <> 'attempts' or attempt_counted_at <> 'failure')
);
comment on column "unstuck".policies.legacy_age_rule is 'true or false';
comment on column "unstuck".policies.is_observed is 'true or false';

-- Functions and views that attach created in the schema of a table, under names that the team's own SQL calls.
create table "unstuck".team_objects (
  attachment   text not null references "unstuck".attachments on delete cascade,
  table_schema text not null,
  name         text not null,
  kind         text not null check (kind in ('function', 'view', 'wrapper')),
  -- Argument types.
  takes        text not null default '',
  phase        int not null,
  -- Order of removal.
  ordinal      int not null,
  -- Digest of the body as created: differs once the team has replaced it.
  digest       text not null,
  -- New name of the object that had this name before; a wrapper calls it.
  kept_name    text,
  -- Digest of the empty function that a wrapper calls until the team fills it in.
  kept_digest  text,
  primary key (attachment, name)
);
