-- The server of the last pulse, as server_epoch() names it: after a recovery its start time is the same.
alter table "unstuck".sweeps add column server_epoch text;
