-- Rows to lock for dedupe keys, where the job table has no unique index on them. A key has one of 65,536 slots: the
-- table stays small and is never cleaned up, and two keys that share a slot only wait for each other.
create table "unstuck".dedupe_locks (
  slot int primary key
) with (fillfactor = 50);
