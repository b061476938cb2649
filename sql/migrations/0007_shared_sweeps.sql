-- How many sessions watch for gone workers, as of the last sweep: workers that leave the sweeps to another one read it.
alter table "unstuck".sweeps add column watchers int;
