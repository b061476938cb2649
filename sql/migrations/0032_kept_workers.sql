-- Workers that run a job alone because its next crash would end it, or that take no more jobs until they can (REAP-15).
-- At most one row per worker, and none while nothing crashes.
create table "unstuck".kept_workers (
  attachment text not null references "unstuck".attachments on delete cascade,
  worker_id  text not null,
  job_id     text not null,
  queue      text not null,
  -- The lease that the job runs under; NULL while the worker still finishes its other jobs.
  lease_id   uuid,
  -- When the worker last asked for jobs while it finished others: a reservation of a silent worker is void.
  seen_at    timestamptz not null,
  primary key (attachment, worker_id)
);
