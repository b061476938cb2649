-- Private: turns jobs that a claim has locked into running ones. The lease never reaches past the hard deadline, so a
-- handler that hangs while its process beats is reaped at that moment like a dead one (LEASE-8).
create or replace function "unstuck"."grant_leases"(
  p_picked "unstuck".picked_job[], p_worker_id text, p_lease_id uuid, p_policy "unstuck".policies,
  p_actor text default null)
returns setof "unstuck".claimed_job language plpgsql as $$
declare
  -- Not now(): a lease granted late in a long transaction must not be born half over.
  v_now timestamptz := clock_timestamp();
begin
  return query
  with granted as (
    update "unstuck"."jobs" job
       set "status" = /*running*/'running',
           "worker_id" = p_worker_id,
           "lease_id" = p_lease_id,
           "fence" = coalesce(job."fence", 0) + 1,
           "lease_expires_at" = picked.lease_ends_at,
           "deadline_at" = picked.deadline_at,
           "heartbeat_at" = v_now,
           "started_at" = coalesce(job."started_at", v_now),
           "last_attempt_at" = v_now,
           "updated_at" = v_now,
           "run_at" = null,
           "reaped_at" = null,
           "attempt" = coalesce(job."attempt", 0) + case when p_policy.attempt_counted_at = 'claim' then 1 else 0 end
      from (select pick.*,
                   "unstuck".after_ms(v_now, least(pick.lease_ms, pick.deadline_ms)) as lease_ends_at,
                   "unstuck".after_ms(v_now, pick.deadline_ms) as deadline_at
              from unnest(p_picked) with ordinality pick(id, stage, lease_ms, deadline_ms, reaped_at, ordinal)) picked
     where job."id" = picked.id::/*id*/uuid
       and job."id" = any (array(select pick.id::/*id*/uuid from unnest(p_picked) pick))
    returning job."id" as id, job."fence" as fence, job."type" as type, coalesce(job."queue", job."type") as queue,
              job."payload" as payload, job."priority" as priority, job."owner" as owner, job."attempt" as attempt,
              job."failures" as failures, job."crashes" as crashes, job."timeouts" as timeouts,
              job."max_attempts" as max_attempts, job."generation" as generation, job."created_at" as created_at,
              job."started_at" as started_at, job."expected_duration_ms" as expected_duration_ms,
              job."traceparent" as traceparent, picked.stage, picked.lease_ms, picked.deadline_ms, picked.reaped_at,
              picked.ordinal
  ), recorded as (
    select "unstuck"."record_events"(v_now, array_agg(row(id::text, 'processing', jsonb_build_object(
             'worker_id', p_worker_id, 'attempt', attempt, 'fence', fence, 'lease_id', p_lease_id, 'stage', stage,
             'rescued_after_ms', "unstuck".ms_between(reaped_at, v_now))
             || "unstuck".acted_by(p_actor))::"unstuck".new_event)) as count
      from granted
     where reaped_at is not null or p_policy.events = 'all'
  )
  select id::text, p_lease_id, fence::text, type::text, queue::text, payload::jsonb, priority::int, stage, owner::text,
         attempt::int, coalesce(failures, 0)::int, coalesce(crashes, 0)::int, coalesce(timeouts, 0)::int,
         coalesce(max_attempts, p_policy.max_attempts)::int, coalesce(generation, 1)::int, created_at, started_at,
         expected_duration_ms::float8, least(lease_ms, deadline_ms)::float8, deadline_ms::float8, traceparent::text,
         reaped_at is not null
    from granted, recorded
   where recorded.count >= 0
   order by ordinal;
end
$$;
