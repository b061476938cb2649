grant usage on schema "unstuck" to /*grantee*/unstuck_worker;
grant select on all tables in schema "unstuck" to /*grantee*/unstuck_worker;
grant insert, update, delete on
  "unstuck"."jobs", "unstuck".events, "unstuck".dispatches, "unstuck".schedules, "unstuck".sweeps,
  "unstuck".breakers, "unstuck".dependencies, "unstuck".probes, "unstuck".pauses, "unstuck".rate_limits,
  "unstuck".dedupe_locks, "unstuck".dedupe_windows, "unstuck".queue_limits, "unstuck".claim_locks,
  "unstuck".kept_workers, "unstuck".workers, "unstuck".webhooks, "unstuck".deliveries,
  "unstuck".waits, "unstuck".operations, "unstuck".operation_jobs, "unstuck".causes,
  "unstuck".observations, "unstuck".sweep_history, "unstuck".audit_entries, "unstuck".trends
  to /*grantee*/unstuck_worker;
