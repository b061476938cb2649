-- The state of every running job: healthy, stale (past its TTL, the next reclaim takes it), or unjudged (its type has
-- no TTL, so nothing takes it).
create or replace view "team"."jobs_stale_monitor" as
select job."id", job."type" as "type", job."status", job."worker_id", job."last_attempt_at" as "last_attempt_at",
       job."heartbeat_at" as "heartbeat_at", job."attempt",
       round("unstuck".ms_between(/*age*/(greatest(job."heartbeat_at", job."started_at", job."updated_at")), now())
             ::numeric / 60000, 1) as age_minutes,
       round(lease.lease_ms / 60000.0, 1) as ttl_minutes, lease.ended_at as ttl_ends_at, lease.health
  from "unstuck"."lease_health"() lease join "unstuck"."jobs" job on job."id" = lease.id;
