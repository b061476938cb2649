-- Completes jobs, for the holder of their lease only. Repeated with the same lease it returns already-done, which
-- resolves a lost response to a commit (C3).
-- One update that visits its rows in the order of their ids (C12), without locking each row first, which cost a third
-- of a completion and a WAL record (docs/adr/0016). The settings guarantee that order: they leave only joins by
-- primary key. Without them, a table with statistics of an empty one was scanned.
create or replace function "unstuck"."complete_jobs"(
  p_ids /*id*/uuid[], p_lease_ids uuid[], p_results text[] default null, p_actor text default null)
returns setof "unstuck".job_outcome language plpgsql
set plan_cache_mode = force_generic_plan
set enable_indexscan = on set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native');
  v_now timestamptz := clock_timestamp();
  v_results jsonb[];
  v_done /*id*/uuid[];
  v_events "unstuck".new_event[];
begin
  perform "unstuck".require_leases(p_ids, p_lease_ids);
  v_results := "unstuck".require_results(p_results, cardinality(p_ids));
  with done as (
    update "unstuck"."jobs" job
       set "status" = /*succeeded*/'succeeded',
           "finished_at" = v_now,
           "updated_at" = v_now,
           "finished_lease_id" = finish.lease_id,
           "result" = finish.result,
           "worker_id" = null, "lease_id" = null, "lease_expires_at" = null, "deadline_at" = null,
           /*+lock_time "last_attempt_at" = null, */
           "error_code" = null, "error_reason" = null, "error_category" = null, "error_stack" = null,
           "error_attempt" = null
      from (select * from unnest(p_ids, p_lease_ids, v_results) finish(id, lease_id, result) order by id) finish
     where job."id" = finish.id and job."id" = any (p_ids) and job."lease_id" = finish.lease_id
       and job."status" is not distinct from /*any_running*/'running'
    returning job."id", job."attempt"
  )
  select array_agg(done."id"),
         array_agg(row(done."id"::text, 'complete', jsonb_build_object('attempt', done."attempt")
                         || "unstuck".acted_by(p_actor))::"unstuck".new_event) filter (where v_policy.events = 'all')
    into v_done, v_events
    from done;
  if v_events is not null then
    perform "unstuck"."record_events"(v_now, v_events);
  end if;
  return query select * from "unstuck"."job_outcomes"(p_ids, p_lease_ids, v_done, 'completed');
end
$$;
