-- Counts per minute and per hour: queue facts and trends without counting job rows.
create table "unstuck".trends (
  attachment text not null references "unstuck".attachments on delete cascade,
  -- 1 or 60: every count is added to its minute and to its hour.
  span_min   int not null,
  at         timestamptz not null,
  queue      text not null,
  type       text not null,
  -- 'processes': reported by those that did it. 'rows': counted from the job table, which finds what passed no worker.
  source     text not null,
  enqueued   bigint not null,
  completed  bigint not null,
  failed     bigint not null,
  rescued    bigint not null,
  -- Durations in the buckets of trend_bounds.
  waits      int[] not null,
  runs       int[] not null,
  -- There was more than the count from the rows reads.
  is_bounded boolean not null,
  primary key (attachment, span_min, at, queue, type, source)
);

-- From due to claimed, for trends.
alter type "unstuck".claimed_job add attribute waited_ms float8;

-- Every job leaves dead rows behind. By the server's default, a table of ten million gets its first vacuum after two
-- million of them; index scans of claims pass them all.
alter table "unstuck"."jobs" set (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.02);
