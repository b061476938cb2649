-- What a breaker remembers of tries that came too early.
alter table "unstuck".breakers
  -- How often in a row: in mode hold it opened again soon after a probe had closed it, in mode half-open a job that was
  -- let through failed.
  add column reopens int not null default 0,
  -- When probes, or jobs that were let through, last closed it.
  add column closed_at timestamptz;

-- A job that was let through and met the failure that the breaker stays open for: it loses no attempt by that. The row
-- stays until the breaker closes.
alter table "unstuck".probes add column failed_at timestamptz;

alter type "unstuck".breaker_status add attribute reopens int, add attribute early_probe_in_ms float8;
