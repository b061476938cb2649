-- All indexes are partial, and none contains a column that a heartbeat writes. A finished row is in one of them.

-- For claims: bounded by the due time within each queue and priority, so that jobs in backoff are never scanned, nor
-- are jobs with a group, which claims find by their groups.
create index /*+concurrently concurrently */ if not exists "jobs_ready"
  on /*+only only */ "unstuck"."jobs"
     ((coalesce("queue", "type")), "priority", (("group_key" is not null)::int),
      (coalesce("run_at", "created_at")), "id")
  where "status" = /*waiting*/'waiting';

-- Running jobs, for sweeps and health. On the end of the lease it would make heartbeats non-HOT (525 bytes of WAL
-- instead of 97); on the id alone a sweep reads every running row, 1 ms for 5,000.
create index /*+concurrently concurrently */ if not exists "jobs_running"
  on /*+only only */ "unstuck"."jobs" ("id")
  where "status" in /*running_words*/('running');

-- Dead letters.
create index /*+concurrently concurrently */ if not exists "jobs_dead"
  on /*+only only */ "unstuck"."jobs" ("id")
  where "status" = /*dead*/'dead';

-- Finished jobs by their end: for retention, which otherwise would read the whole table to find nothing, and for what
-- ended in a given minute. Entries are added at its right end: ADR 0026 has the price.
create index /*+concurrently concurrently */ if not exists "jobs_ended"
  on /*+only only */ "unstuck"."jobs" ((coalesce("finished_at", "updated_at", "created_at")))
  where "status" in /*ended_words*/('succeeded', 'dead', 'cancelled');

-- A dedupe key is unique among unfinished jobs of a type in the native table, and if the profile says so. Otherwise,
-- and across partitions, the index only finds jobs, and writers of the team may use a key twice.
create /*unique*/unique index /*+concurrently concurrently */ if not exists "jobs_dedupe"
  on /*+only only */ "unstuck"."jobs" ("type", "dedupe_key")
  where "dedupe_key" is not null and "status" in /*unfinished_words*/('waiting', 'running');

-- Waiting jobs by group, for turns between groups.
create index /*+concurrently concurrently */ if not exists "jobs_grouped"
  on /*+only only */ "unstuck"."jobs"
     ((coalesce("queue", "type")), "priority", "group_key", (coalesce("run_at", "created_at")), "id")
  where "status" = /*waiting*/'waiting' and "group_key" is not null;

-- Unfinished jobs by group: the first waiting one, for groups in order, and those that run, to count them. One index
-- for both, because every update of a job opens all of them.
create index /*+concurrently concurrently */ if not exists "jobs_group_members"
  on /*+only only */ "unstuck"."jobs" ((coalesce("queue", "type")), "group_key", "status", "id")
  where "status" in /*unfinished_words*/('waiting', 'running') and "group_key" is not null;
