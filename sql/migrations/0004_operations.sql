-- Workers, operators, and messages to the outside.

-- As reported by the workers themselves.
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
  -- Interval between reports: a worker is late after three of them.
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
  -- Event types; empty: all.
  events          text[] not null,
  is_active       boolean not null default true,
  inactive_reason text,
  created_at      timestamptz not null,
  created_by      text
);

-- Written in the transaction of the event. No reference to webhooks: every writer of an event would lock the same row.
create table "unstuck".deliveries (
  attachment   text not null,
  id           uuid not null,
  webhook_id   uuid not null,
  job_id       text not null,
  -- The request body: { type, timestamp, data }.
  event        jsonb not null,
  status       text not null default 'waiting' check (status in ('waiting', 'delivered', 'failed')),
  tries        int not null default 0,
  -- End of the sender's lease, or of the wait after a failed try.
  next_try_at  timestamptz not null,
  -- HTTP status of the last response; NULL if there was none.
  last_status  int,
  last_error   text,
  created_at   timestamptz not null,
  delivered_at timestamptz,
  primary key (attachment, id)
) with (fillfactor = 70);
create index deliveries_due on "unstuck".deliveries (attachment, next_try_at) where status = 'waiting';
create index deliveries_old on "unstuck".deliveries (attachment, created_at);

-- Requeued jobs to publish to an outside queue. Written in the transaction that requeues the job and deleted once
-- published, so that a failed publish is repeated and none is lost. No reference to attachments: every writer would
-- lock the same row.
create table "unstuck".dispatches (
  attachment  text not null,
  job_id      text not null,
  -- New for every requeue, the same for every try: the outside queue deduplicates by it.
  dispatch_id uuid not null,
  tries       int not null default 0,
  -- End of the publisher's lease, or of the wait after a failed publish.
  next_try_at timestamptz not null,
  last_error  text,
  created_at  timestamptz not null,
  primary key (attachment, job_id)
) with (fillfactor = 70);
create index dispatches_due on "unstuck".dispatches (attachment, next_try_at);

-- Bulk changes of jobs.
create table "unstuck".operations (
  -- Time-ordered.
  id               uuid primary key,
  attachment       text not null references "unstuck".attachments on delete cascade,
  action           text not null check (action in ('retry', 'run-now', 'cancel', 'discard', 'redrive')),
  -- The search as typed, and as parsed.
  q                text not null,
  filter           jsonb not null,
  -- Jobs that were created, or died, later are left alone.
  as_of            timestamptz not null,
  actor            text,
  -- Restricts the operation to jobs of this owner.
  owner            text,
  reason           text,
  canary           int not null,
  -- NULL: unlimited.
  rate_per_s       float8,
  keep_attempts    boolean not null,
  -- Queues whose open breakers stop a redrive.
  queues           text[] not null,
  state            text not null default 'running' check (state in ('running', 'done', 'stopped', 'failed')),
  phase            text check (phase in ('canary', 'rest')),
  phase_at         timestamptz,
  total            int not null,
  changed          int not null default 0,
  refused          int not null default 0,
  succeeded        int not null default 0,
  failed           int not null default 0,
  stopped          text,
  -- Held by the process that runs it; another process takes over once it expires.
  lease_id         uuid,
  lease_expires_at timestamptz,
  began_at         timestamptz not null,
  ended_at         timestamptz
) with (fillfactor = 70);
create index operations_newest on "unstuck".operations (attachment, id);
create index operations_running on "unstuck".operations (attachment) where state = 'running';

-- Selected once, before anything is changed.
create table "unstuck".operation_jobs (
  operation_id uuid not null references "unstuck".operations on delete cascade,
  position     int not null,
  job_id       text not null,
  -- NULL: not processed yet.
  outcome      text,
  primary key (operation_id, position)
);
create index operation_jobs_left on "unstuck".operation_jobs (operation_id, position) where outcome is null;

-- Triage of dead letters. A cause without a row is new.
create table "unstuck".causes (
  attachment text not null references "unstuck".attachments on delete cascade,
  cause_id   text not null,
  state      text not null check (state in ('investigating', 'resolved', 'ignored')),
  changed_at timestamptz not null,
  changed_by text,
  reason     text,
  primary key (attachment, cause_id)
);

-- Changes by people to anything but jobs, whose events name the actor.
create table "unstuck".audit_entries (
  id         bigint generated always as identity primary key,
  -- NULL for objects that tables share, such as breakers and tokens.
  attachment text,
  type       text not null,
  -- The queue, breaker, worker, webhook or token.
  subject    text,
  actor      text not null,
  reason     text,
  at         timestamptz not null,
  details    jsonb not null
);
create index audit_entries_at on "unstuck".audit_entries (at, id);

-- Access to the HTTP API.
create table "unstuck".tokens (
  name       text primary key,
  -- Digest of the secret, which is shown once and not stored.
  sha256     bytea not null unique,
  scopes     text[] not null,
  -- Restricts the token to jobs of this owner.
  owner      text,
  created_at timestamptz not null,
  created_by text,
  expires_at timestamptz,
  revoked_at timestamptz,
  revoked_by text
);

-- HTTP requests with an idempotency key, and their responses.
create table "unstuck".requests (
  actor    text not null,
  key      text not null,
  -- Digest of method, path and body: the same key with another request is refused.
  sha256   bytea not null,
  -- NULL while in progress.
  status   int,
  answer   text,
  begun_at timestamptz not null,
  primary key (actor, key)
);
create index requests_begun on "unstuck".requests (begun_at);

create type "unstuck".webhook_status as (
  id text, url text, events text[], is_active boolean, inactive_reason text, created_at timestamptz, created_by text,
  waiting int
);
