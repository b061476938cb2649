-- Jobs that were put back to waiting and have to be told to an outside queue. A row is written in the transaction that
-- puts the job back and deleted once it was published, so that a publish that fails is made again and none is lost.

create domain "unstuck".dispatched_jobs as text
  constraint takes_off_or_requeued check (value in ('off', 'requeued'));
comment on domain "unstuck".dispatched_jobs is 'off or requeued';
alter table "unstuck".policies add column dispatch "unstuck".dispatched_jobs not null default 'off';

-- No reference to attachments: every writer would share the lock of one row.
create table "unstuck".dispatches (
  attachment  text not null,
  job_id      text not null,
  -- A new one each time the job is put back, the same for every try: outside queues know a repeat by it.
  dispatch_id uuid not null,
  tries       int not null default 0,
  -- The end of the lease of whoever publishes it now, or of the wait after a publish that failed.
  next_try_at timestamptz not null,
  last_error  text,
  created_at  timestamptz not null,
  primary key (attachment, job_id)
) with (fillfactor = 70);
create index dispatches_due on "unstuck".dispatches (attachment, next_try_at);
