-- When a reaper that comes over the network last got through; NULL before the first that knows its own past.
alter table "unstuck".sweeps add column reached_at timestamptz;
