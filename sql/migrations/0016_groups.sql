-- Groups of jobs, and how many jobs of a queue or of a group run at once (docs/adr/0051). NULL for most jobs, so their
-- rows stay as wide as they were.
alter table "unstuck"."jobs" add column if not exists "group_key" text;

-- Rules of queues. NULL: no limit, and no order.
create table "unstuck".queue_limits (
  attachment        text not null references "unstuck".attachments on delete cascade,
  queue             text not null,
  -- Jobs of the queue that run at once, and jobs of each group.
  concurrency       int check (concurrency between 1 and 1000000),
  group_concurrency int check (group_concurrency between 1 and 1000000),
  -- 'fifo': the jobs of a group run in the order of their ids.
  group_order       text check (group_order = 'fifo'),
  changed_at        timestamptz not null,
  changed_by        text,
  primary key (attachment, queue),
  check (group_order is null or group_concurrency = 1),
  check (num_nonnulls(concurrency, group_concurrency) > 0)
);

-- Rows that claims lock for queues and groups with limits. A key maps to one of 1,024 slots: the table needs no
-- cleanup, and a claim that finds the slot of its group locked only misses a turn.
create table "unstuck".claim_locks (
  slot     int primary key,
  -- Written with every lock, so that claims under repeatable read conflict in this row.
  taken_at timestamptz,
  -- The group of a queue at which its next claim begins.
  reached  text
) with (fillfactor = 50);
insert into "unstuck".claim_locks (slot) select slot from generate_series(0, 1023) slot;

-- Roles that may claim jobs may lock the rows and set the rules.
-- grants: queue_limits, claim_locks as kept_workers

-- Replaced by functions with other arguments.
drop function if exists "unstuck".has_queue_rules(text);
