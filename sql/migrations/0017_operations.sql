-- Changes of many jobs that people ask for at once, and what they think of the causes of dead letters.

create table "unstuck".operations (
  -- Time-ordered: the newest come first by it.
  id               uuid primary key,
  attachment       text not null references "unstuck".attachments on delete cascade,
  action           text not null check (action in ('retry', 'run-now', 'cancel', 'discard', 'redrive')),
  -- How the jobs were chosen: as it was typed, and as it was understood.
  q                text not null,
  filter           jsonb not null,
  -- What was created, or died, later is left alone.
  as_of            timestamptz not null,
  actor            text,
  -- Set: whoever asked sees and changes jobs of this owner only.
  owner            text,
  reason           text,
  canary           int not null,
  -- NULL: as fast as it goes.
  rate_per_s       float8,
  keep_attempts    boolean not null,
  -- Whose breakers stop a redrive.
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
  -- Of the process that runs it. What nobody renews is taken over.
  lease_id         uuid,
  lease_expires_at timestamptz,
  began_at         timestamptz not null,
  ended_at         timestamptz
) with (fillfactor = 70);
create index operations_newest on "unstuck".operations (attachment, id);
create index operations_running on "unstuck".operations (attachment) where state = 'running';

-- The jobs of an operation, chosen once before anything is changed.
create table "unstuck".operation_jobs (
  operation_id uuid not null references "unstuck".operations on delete cascade,
  position     int not null,
  job_id       text not null,
  -- NULL: its turn has not come.
  outcome      text,
  primary key (operation_id, position)
);
create index operation_jobs_left on "unstuck".operation_jobs (operation_id, position) where outcome is null;

-- A cause without a row is new.
create table "unstuck".causes (
  attachment text not null references "unstuck".attachments on delete cascade,
  cause_id   text not null,
  state      text not null check (state in ('investigating', 'resolved', 'ignored')),
  changed_at timestamptz not null,
  changed_by text,
  reason     text,
  primary key (attachment, cause_id)
);
