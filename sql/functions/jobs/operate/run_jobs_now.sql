-- Ends the wait of jobs in backoff or with a later start. A paused queue and an open breaker still hold them back. With
-- p_owner only that owner's jobs exist. The generation is compared under the lock.
create or replace function "unstuck"."run_jobs_now"(
  p_ids /*id*/uuid[], p_owner text default null, p_actor text default null, p_reason text default null,
  p_generation int default null)
returns setof "unstuck".job_outcome language plpgsql set enable_seqscan = off as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native');
  v_now timestamptz := clock_timestamp();
begin
  perform "unstuck".require_list(p_ids, 'ids', 'ids of jobs');
  perform "unstuck".require_acting(/*attachment*/'native');
  return query
  with found as materialized (
    select job."id" as id, job."status" = /*waiting*/'waiting' as is_waiting,
           coalesce(job."run_at", job."created_at") <= now() as is_due,
           p_generation is null or coalesce(job."generation", 1) = p_generation as is_current
      from "unstuck"."jobs" job
     where job."id" = any (p_ids) and (p_owner is null or job."owner"::text = p_owner)
     order by job."id"
       for no key update of job
  ), hurried as (
    update "unstuck"."jobs" job set "run_at" = v_now, "updated_at" = v_now
      from found
     where job."id" = found.id and found.is_current and found.is_waiting and not found.is_due
    returning job."id" as id
  ), recorded as (
    select "unstuck"."record_events"(v_now, array_agg(
             row(id::text, 'queued', jsonb_build_object('cause', 'run-now', 'actor', p_actor, 'reason', p_reason)
                )::"unstuck".new_event)) as count,
           case when count(*) > 0 then "unstuck".send_hint(v_policy) end as is_hinted,
           case when v_policy.dispatch <> 'off' then "unstuck".record_dispatches(v_policy, array_agg(id::text)) end
      from hurried
  )
  select asked.id::text,
         case when found.id is null then 'not-found'
              when not found.is_current then 'generation-changed'
              when not found.is_waiting then 'not-waiting'
              when found.is_due then 'already-due'
              else 'due' end,
         null::float8
    from recorded, pg_catalog.unnest(p_ids) with ordinality asked(id, ordinal)
    left join found on found.id = asked.id
   where recorded.count >= 0
   order by asked.ordinal;
end
$$;
