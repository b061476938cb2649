-- Makes jobs in backoff or with a later start due now. A paused queue or an open breaker still holds them back.
-- A job that is due already does not change; that somebody asked is recorded too.
-- p_owner restricts the call to jobs of that owner. The generation is compared under the lock.
create or replace function "unstuck"."run_jobs_now"(
  p_ids /*id*/uuid[], p_owner text default null, p_actor text default null, p_reason text default null,
  p_generation int default null)
returns setof "unstuck".job_outcome language plpgsql set enable_seqscan = off as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native');
  v_now timestamptz := clock_timestamp();
  v_hurried text[];
  v_asked text[];
  v_outcomes "unstuck".job_outcome[];
begin
  perform "unstuck".require_list(p_ids, 'ids', 'ids of jobs');
  perform "unstuck".require_acting(/*attachment*/'native');
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
  )
  select array(select id::text from hurried),
         array(select id::text from found where is_current and is_waiting),
         array(select row(asked.id::text,
                          case when found.id is null then 'not-found'
                               when not found.is_current then 'generation-changed'
                               when not found.is_waiting then 'not-waiting'
                               when found.is_due then 'already-due'
                               else 'due' end, null)::"unstuck".job_outcome
                 from pg_catalog.unnest(p_ids) with ordinality asked(id, ordinal)
                 left join found on found.id = asked.id
                order by asked.ordinal)
    into v_hurried, v_asked, v_outcomes;
  if cardinality(v_asked) > 0 then
    perform "unstuck"."record_events"(v_now, array(
      select row(id, 'queued', jsonb_build_object('cause', 'run-now', 'actor', p_actor, 'reason', p_reason)
                )::"unstuck".new_event from pg_catalog.unnest(v_asked) id));
  end if;
  if cardinality(v_hurried) > 0 then
    perform "unstuck".send_hint(v_policy);
    perform "unstuck".record_dispatches(v_policy, v_hurried) where v_policy.dispatch <> 'off';
  end if;
  return query select * from pg_catalog.unnest(v_outcomes);
end
$$;
