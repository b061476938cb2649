-- Moves a running job to another stage, for the holder of its lease only. Lease and hard deadline are those of the new
-- stage, counted from now, but never past the end of the attempt (LEASE-11). A job past its deadline stays: nothing
-- revives it.
create or replace function "unstuck"."enter_stage"(
  p_id /*id*/uuid, p_lease_id uuid, p_stage text, p_policy jsonb default null)
returns table (outcome text, lease_ms float8, deadline_ms float8) language plpgsql as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_now timestamptz;
  v_lease_ms bigint;
  v_lease_ends_at timestamptz;
  v_deadline_at timestamptz;
  v_runtime_ends_at timestamptz;
  v_deadline_ms float8;
begin
  perform "unstuck".require_leases(array[p_id], array[p_lease_id]);
  perform "unstuck".require(length(p_stage) between 1 and 200, 'stage', p_stage, '1 to 200 characters');
  /*+without_stages perform "unstuck".refuse_feature(/*attachment*/'native', 'stages'); */
  select "unstuck".stage_lease_ms(v_policy, p_stage, job."expected_duration_ms"), job."deadline_at",
         "unstuck".after_ms(job."last_attempt_at", "unstuck".max_runtime_ms(v_policy, job."type"::text))
    into v_lease_ms, v_deadline_at, v_runtime_ends_at
    from "unstuck"."jobs" job
   where job."id" = p_id and job."lease_id" = p_lease_id and job."status" is not distinct from /*any_running*/'running'
     for no key update;
  if not found then
    return query select answer.outcome, null::float8, null::float8
                   from "unstuck"."job_outcomes"(array[p_id], array[p_lease_id], null, null) answer;
    return;
  end if;
  -- After the lock: waiting for the row must not shorten the lease.
  v_now := clock_timestamp();
  if v_deadline_at <= v_now or v_runtime_ends_at <= v_now then
    return query select 'past-deadline', null::float8, null::float8;
    return;
  end if;
  v_deadline_at := least("unstuck".after_ms(v_now, "unstuck".stage_deadline_ms(v_policy, p_stage)), v_runtime_ends_at);
  v_deadline_ms := "unstuck".ms_between(v_now, v_deadline_at);
  v_lease_ends_at := least("unstuck".after_ms(v_now, v_lease_ms), v_deadline_at);
  update "unstuck"."jobs" job
     set "stage" = p_stage, "heartbeat_at" = v_now, "updated_at" = v_now,
         "lease_expires_at" = v_lease_ends_at, "deadline_at" = v_deadline_at
   where job."id" = p_id;
  return query select 'entered', least(v_lease_ms, v_deadline_ms), v_deadline_ms;
end
$$;
