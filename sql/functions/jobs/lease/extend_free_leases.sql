-- Private: extends the leases of unlocked rows by an update alone, because a lock first is a WAL record of 54 bytes
-- beside its 89. The caller handles the rest with SKIP LOCKED.
-- A row is free if its xmax is empty or equals its xmin: its last writer had locked the version before, and has ended.
-- The check only saves time. If somebody takes the row between check and write, the update waits a millisecond; then
-- all of it is rolled back and left to the caller (docs/adr/0018). The other settings are those of complete_jobs: rows
-- come one by one, each right after its check, in the order of their ids.
create or replace function "unstuck"."extend_free_leases"(
  p_ids /*id*/uuid[], p_lease_ids uuid[], p_lease_ms bigint, p_policy "unstuck".policies, p_now timestamptz,
  out ids /*id*/uuid[], out lease_ids uuid[], out answers text[])
returns record language plpgsql
set lock_timeout = '1ms' set plan_cache_mode = /*plan_mode*/force_generic_plan
set enable_indexscan = on set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off as $$
declare
  v_now_s float8 := case when p_lease_ms is null then extract(epoch from p_now) end;
  v_ends_at timestamptz := "unstuck".after_ms(p_now, p_lease_ms);
begin
  with kept as (
    update "unstuck"."jobs" job
       set "lease_expires_at" = least(job."deadline_at", coalesce(v_ends_at, to_timestamp(
             v_now_s + "unstuck".stage_lease_ms(p_policy, coalesce(job."stage", p_policy.default_stage, job."type"),
                                                job."expected_duration_ms")::float8 / 1000::float8))),
           "heartbeat_at" = p_now
      from (select * from unnest(p_ids, p_lease_ids) beat(id, lease_id) order by id) beat
     where job."id" = beat.id and job."id" = any (p_ids) and job."lease_id" = beat.lease_id
       and job."status" is not distinct from /*any_running*/'running'
       and (job."deadline_at" <= p_now) is not true
       and (job.xmax = '0' or job.xmax = job.xmin)
    returning job."id", beat.lease_id, job."cancel_requested_at" is not null as is_cancelled
  )
  select array_agg(kept."id"), array_agg(kept.lease_id),
         array_agg(case when kept.is_cancelled then 'cancel-asked' else 'kept' end)
    into ids, lease_ids, answers
    from kept;
exception when lock_not_available or deadlock_detected then
  ids := null;
end
$$;
