-- Which workers there are, as they tell it themselves; and webhooks, whose deliveries are written in the transaction of
-- the event they tell of.

create table "unstuck".workers (
  attachment         text not null references "unstuck".attachments on delete cascade,
  worker_id          text not null,
  host               text,
  pid                int,
  version            text,
  types              text[] not null,
  concurrency        int not null,
  running            int not null,
  loop_lag_ms        float8,
  -- Between two reports: tells what late means.
  report_ms          "unstuck".lease_ms not null,
  started_at         timestamptz not null,
  seen_at            timestamptz not null,
  draining_at        timestamptz,
  stopped_at         timestamptz,
  exit_code          int,
  drain_requested_at timestamptz,
  drain_requested_by text,
  drain_reason       text,
  primary key (attachment, worker_id)
) with (fillfactor = 70);

create table "unstuck".webhooks (
  id              uuid primary key,
  attachment      text not null references "unstuck".attachments on delete cascade,
  url             text not null,
  secret          text not null,
  -- Types of events; none: all of them.
  events          text[] not null,
  is_active       boolean not null default true,
  inactive_reason text,
  created_at      timestamptz not null,
  created_by      text
);

-- No reference to webhooks: every writer of an event would share the lock of one row.
create table "unstuck".deliveries (
  attachment   text not null,
  id           uuid not null,
  webhook_id   uuid not null,
  job_id       text not null,
  -- What is sent: { type, timestamp, data }.
  event        jsonb not null,
  status       text not null default 'waiting' check (status in ('waiting', 'delivered', 'failed')),
  tries        int not null default 0,
  -- The end of the lease of whoever sends it now, or of the wait after a try that failed.
  next_try_at  timestamptz not null,
  -- Of the last answer; NULL where none came.
  last_status  int,
  last_error   text,
  created_at   timestamptz not null,
  delivered_at timestamptz,
  primary key (attachment, id)
) with (fillfactor = 70);
create index deliveries_due on "unstuck".deliveries (attachment, next_try_at) where status = 'waiting';
create index deliveries_old on "unstuck".deliveries (attachment, created_at);

create type "unstuck".webhook_status as (
  id text, url text, events text[], is_active boolean, inactive_reason text, created_at timestamptz, created_by text,
  waiting int
);

-- Rescues are few among the events of a table that tells all.
create index if not exists events_rescues on "unstuck".events (attachment, at)
  where type = 'processing' and data #>> '{details,rescued_after_ms}' is not null;
