-- Jobs without a sign of life for more than twice their TTL. Empty while reclaiming works.
create or replace view "team"."jobs_stale_validation" as
select job."id", job."type" as "type", job."status", job."worker_id", job."last_attempt_at" as "last_attempt_at",
       job."heartbeat_at" as "heartbeat_at", job."attempt",
       round(lease.lease_ms / 60000.0, 1) as ttl_minutes, lease.ended_at as ttl_ends_at
  from "unstuck"."lease_health"() lease join "unstuck"."jobs" job on job."id" = lease.id
 where lease.ended_at + lease.lease_ms * interval '1 millisecond' < now();
