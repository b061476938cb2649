-- Since when the table may have been locked: the last sweep that got through before one that did not; else NULL.
alter table "unstuck".sweeps add column locked_since timestamptz;
