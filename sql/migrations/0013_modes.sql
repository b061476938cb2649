-- How far the engine goes on a table: it only looks, it reaps, or it also fences writers that know no leases.
alter table "unstuck".attachments
  add column mode text not null default 'reap' check (mode in ('observe', 'reap', 'enforce')),
  add column on_foreign_settle text not null default 'record' check (on_foreign_settle in ('record', 'refuse')),
  -- NULL where the mode was never changed.
  add column mode_since timestamptz;

-- What sweeps would have done to a table in mode observe: one row for each lease that ran out.
create table "unstuck".observations (
  attachment text not null references "unstuck".attachments on delete cascade,
  job_id     text not null,
  -- The lease id; of a running row without one, its worker and its attempt; of a waiting job, nothing.
  lease      text not null,
  verdict    text not null check (verdict in ('requeued', 'dead', 'cancelled')),
  reason     text not null,
  stage      text,
  worker_id  text,
  -- The last sign of life: the end of the lease, or the newest of the row's times.
  sign_at    timestamptz,
  seen_at    timestamptz not null,
  -- NULL as long as nothing has moved.
  outcome    text check (outcome in ('came-back', 'still-stuck', 'reaped', 'gone')),
  outcome_at timestamptz,
  primary key (attachment, job_id, lease)
);
create index observations_open on "unstuck".observations (attachment) where outcome is null;
