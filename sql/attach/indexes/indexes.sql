-- Every index is partial, so that finished rows cost nothing, and none holds a column that a heartbeat writes.

-- The claim's: inside one queue and priority it is bounded by the due time, so jobs in backoff are never walked.
create index /*+concurrently concurrently */ if not exists "jobs_ready"
  on /*+only only */ "unstuck"."jobs"
     ((coalesce("queue", "type")), "priority", (coalesce("run_at", "created_at")), "id")
  where "status" = /*waiting*/'waiting';

-- The running set, for sweeps and health. Over the lease's end it would make every heartbeat non-HOT (525 against 97
-- bytes of WAL a beat, measured); over the id alone a sweep reads each running row, 1 ms for 5,000.
create index /*+concurrently concurrently */ if not exists "jobs_running"
  on /*+only only */ "unstuck"."jobs" ("id")
  where "status" in /*running_words*/('running');

-- The dead letters, for those who look after them.
create index /*+concurrently concurrently */ if not exists "jobs_dead"
  on /*+only only */ "unstuck"."jobs" ("id")
  where "status" = /*dead*/'dead';

-- At most one unfinished job of a type has a dedupe key: in the native table, and where the profile says so. Elsewhere,
-- and over partitions, it only finds, and the writers of the team are free to use a key twice.
create /*unique*/unique index /*+concurrently concurrently */ if not exists "jobs_dedupe"
  on /*+only only */ "unstuck"."jobs" ("type", "dedupe_key")
  where "dedupe_key" is not null and "status" in /*unfinished_words*/('waiting', 'running');
