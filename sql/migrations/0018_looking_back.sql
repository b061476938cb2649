-- What people look back at: sweeps that found something, what was done by hand to anything but a job, and limits as
-- they were used last.

-- Of the last sweep, beside its time; NULL where an older version swept.
alter table "unstuck".sweeps
  add column duration_ms float8,
  add column found int,
  add column requeued int,
  add column dead int,
  add column cancelled int,
  add column skipped int,
  add column held int;

-- Written by the steps of a sweep, each in its own transaction. A sweep that found nothing is not in it.
create table "unstuck".sweep_history (
  attachment  text not null references "unstuck".attachments on delete cascade,
  id          uuid not null,
  began_at    timestamptz not null,
  -- NULL of a sweep by hand.
  reaper_id   text,
  actor       text,
  reason      text,
  duration_ms float8 not null,
  found       int not null,
  requeued    int not null,
  dead        int not null,
  cancelled   int not null,
  -- Somebody had the row locked.
  skipped     int not null,
  held        int not null,
  hold_reason text,
  primary key (attachment, id)
);

-- What is done to jobs is in their events, with the actor in the details.
create table "unstuck".acts (
  id         bigint generated always as identity primary key,
  -- NULL of what all tables share, such as breakers and tokens.
  attachment text,
  type       text not null,
  -- The queue, breaker, worker, webhook or token it was done to.
  subject    text,
  actor      text not null,
  reason     text,
  at         timestamptz not null,
  details    jsonb not null
);
create index acts_at on "unstuck".acts (at, id);

create index if not exists events_acts on "unstuck".events (at, id)
  where data #>> '{details,actor}' is not null and data #> '{details,worker_id}' is null
    and type in ('queued', 'cancelled', 'cancel-requested', 'discarded');
create index if not exists events_reclaims on "unstuck".events (attachment, id)
  where type in ('reaper:requeued', 'reaper:failed(timeout)', 'reaper:cancelled');

-- As the last caller had them; NULL before the first.
alter table "unstuck".rate_limits
  add column rate_per_s float8,
  add column burst int,
  add column used_at timestamptz;

alter type "unstuck".breaker_status add attribute last_calls jsonb;
