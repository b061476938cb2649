-- Private: turns jobs that a claim has locked into running ones. A lease never extends past the hard deadline, so a
-- handler that hangs while its process sends heartbeats is reaped then like a dead one (LEASE-8).
-- Values computed under the lock come as arrays of plain types, and policy fields as variables: rows and policy fields
-- cost 4 of the 17 µs of a claimed job.
create or replace function "unstuck"."grant_leases"(
  p_ids /*id*/uuid[], p_stages text[], p_leases_ms bigint[], p_deadlines_ms bigint[], p_reaped_at timestamptz[],
  p_run_at timestamptz[], p_worker_id text, p_lease_id uuid, p_policy "unstuck".policies, p_actor text default null)
returns setof "unstuck".claimed_job language plpgsql as $$
declare
  -- Not now(): a lease granted late in a long transaction must have its full length.
  v_now timestamptz := clock_timestamp();
  v_counted int := case when p_policy.attempt_counted_at = 'claim' then 1 else 0 end;
  v_max_attempts int := p_policy.max_attempts;
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
           "attempt" = coalesce(job."attempt", 0) + v_counted
      from (select pick.*,
                   "unstuck".after_ms(v_now, least(pick.lease_ms, pick.deadline_ms)) as lease_ends_at,
                   "unstuck".after_ms(v_now, pick.deadline_ms) as deadline_at
              from unnest(p_ids, p_stages, p_leases_ms, p_deadlines_ms, p_reaped_at, p_run_at)
                     with ordinality pick(id, stage, lease_ms, deadline_ms, reaped_at, run_at, ordinal)) picked
     where job."id" = picked.id and job."id" = any (p_ids)
    returning job."id"::text as id, job."fence"::text as fence, job."type"::text as type,
              coalesce(job."queue", job."type")::text as queue, job."payload"::jsonb as payload,
              job."priority"::int as priority, picked.stage, job."owner"::text as owner, job."attempt"::int as attempt,
              coalesce(job."failures", 0)::int as failures, coalesce(job."crashes", 0)::int as crashes,
              coalesce(job."timeouts", 0)::int as timeouts,
              coalesce(job."max_attempts", v_max_attempts)::int as max_attempts,
              coalesce(job."generation", 1)::int as generation, job."created_at" as created_at,
              job."started_at" as started_at, job."expected_duration_ms"::float8 as expected_duration_ms,
              least(picked.lease_ms, picked.deadline_ms)::float8 as lease_ms, picked.deadline_ms::float8 as deadline_ms,
              job."traceparent"::text as traceparent, picked.reaped_at is not null as is_rescue,
              "unstuck".ms_between(coalesce(picked.run_at, job."created_at"), v_now) as waited_ms, picked.ordinal
  )
  select id, p_lease_id, fence, type, queue, payload, priority, stage, owner, attempt, failures, crashes, timeouts,
         max_attempts, generation, created_at, started_at, expected_duration_ms, lease_ms, deadline_ms, traceparent,
         is_rescue, waited_ms
    from granted
   order by ordinal;

  if p_policy.events = 'all' or cardinality(array_remove(p_reaped_at, null)) > 0 then
    perform "unstuck"."record_events"(v_now, array_agg(row(job."id"::text, 'processing', jsonb_build_object(
              'worker_id', p_worker_id, 'attempt', job."attempt", 'fence', job."fence", 'lease_id', p_lease_id,
              'stage', picked.stage, 'rescued_after_ms', "unstuck".ms_between(picked.reaped_at, v_now))
              || "unstuck".acted_by(p_actor))::"unstuck".new_event order by picked.ordinal))
       from unnest(p_ids, p_stages, p_reaped_at) with ordinality picked(id, stage, reaped_at, ordinal)
       join "unstuck"."jobs" job on job."id" = picked.id
      where picked.reaped_at is not null or p_policy.events = 'all';
  end if;
end
$$;
