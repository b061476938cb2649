-- What holds jobs back without touching them: breakers of dependencies, paused queues, and rate limits. Breakers and
-- limits belong to what they protect and not to one job table: every attached table shares them by name.

create table "unstuck".breakers (
  name              text primary key,
  -- Settings: the names of src/policy/dependency/breaker.ts in snake case.
  mode              text not null default 'half-open' check (mode in ('hold', 'half-open')),
  window_calls      int not null default 20 check (window_calls between 1 and 1000),
  min_calls         int not null default 10 check (min_calls between 1 and 1000),
  fail_threshold    float8 not null default 0.5 check (fail_threshold > 0 and fail_threshold <= 1),
  cooldown_ms       "unstuck".duration_ms not null default 30000,
  close_after       int not null default 3 check (close_after between 1 and 1000),
  probe_interval_ms "unstuck".duration_ms not null default 1000,
  probe_slots       int not null default 1 check (probe_slots between 1 and 1000),
  probe_timeout_ms  "unstuck".lease_ms not null default 60000,
  -- The last calls, oldest first; true is a failure.
  calls             boolean[] not null default '{}',
  is_open           boolean not null default false,
  -- Probes that went well since it opened, in a row.
  successes         int not null default 0,
  cooldown_until    timestamptz,
  -- The last health probe that went well.
  probed_at         timestamptz,
  -- Written with every slot, so that two claims under repeatable read meet in this row.
  slot_taken_at     timestamptz,
  -- By an operator; held_until is NULL where nobody said how long.
  held_at           timestamptz,
  held_until        timestamptz,
  changed_at        timestamptz not null default now(),
  changed_by        text,
  reason            text
) with (fillfactor = 70);

-- Which dependency the jobs of a queue call.
create table "unstuck".dependencies (
  attachment text not null references "unstuck".attachments on delete cascade,
  queue      text not null,
  name       text not null references "unstuck".breakers on delete cascade,
  primary key (attachment, queue)
);
create index dependencies_of_breaker on "unstuck".dependencies (name);

-- Jobs that a half-open breaker let through and that have not reported a call yet.
create table "unstuck".probes (
  breaker    text not null references "unstuck".breakers on delete cascade,
  attachment text not null references "unstuck".attachments on delete cascade,
  job_id     text not null,
  granted_at timestamptz not null,
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

-- A bucket of tokens is one moment: when it will be full again (GCRA). A bucket that is full needs no row.
create table "unstuck".rate_limits (
  key     text primary key,
  full_at timestamptz not null
) with (fillfactor = 50);

create type "unstuck".breaker_status as (
  name text, state text, since timestamptz, changed_by text, reason text, calls int, failures int, successes int,
  probing int, next_probe_in_ms float8, held_for_ms float8, settings jsonb, queues jsonb
);
