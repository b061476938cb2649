-- Ends waiting jobs without budget or past their expiry that no claim meets, such as those of a queue without workers.
-- It reads every waiting job, so no sweep calls it: claims end the jobs they meet. In a team's table it ends only jobs
-- that were enqueued with an expiry (C29).
create or replace function "unstuck"."bury_jobs"(p_limit int default 1000, p_policy jsonb default null)
returns setof "unstuck".reaped_job language plpgsql as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_spent /*id*/uuid[];
begin
  perform "unstuck".require(p_limit between 1 and 10000, 'limit', p_limit::text, 'a whole number from 1 to 10000');
  perform "unstuck".require_acting(/*attachment*/'native');
  select array_agg(spent.id) into v_spent
    from (select job."id" as id from "unstuck"."jobs" job
           where job."status" = /*waiting*/'waiting'
             and (not /*judged_waiting*/("unstuck".has_budget(v_policy, job."attempt", job."failures", job."crashes",
                                                              job."timeouts", job."max_attempts"))
                  or job."expires_at" <= now())
           -- In the order of "jobs_ready": by id it would scan all finished rows to find the few waiting ones.
           order by coalesce(job."queue", job."type"), job."priority", (job."group_key" is not null)::int,
                    coalesce(job."run_at", job."created_at"), job."id"
           limit p_limit for no key update of job skip locked) spent;
  return query select * from "unstuck"."bury_spent"(v_spent, v_policy);
end
$$;

-- Private: ends waiting jobs without budget or past their expiry. The caller holds their locks.
create or replace function "unstuck"."bury_spent"(p_ids /*id*/uuid[], p_policy "unstuck".policies)
returns setof "unstuck".reaped_job language plpgsql set enable_seqscan = off as $$
declare
  v_now timestamptz := clock_timestamp();
  v_events "unstuck".new_event[];
  v_buried "unstuck".reaped_job[];
begin
  with spent as materialized (
    select job."id" as id, verdict.*
      from "unstuck"."jobs" job,
           lateral (select case when job."expires_at" <= v_now then 'EXPIRED' else 'exhausted' end as code,
                           case when job."expires_at" <= v_now then 'not_started_in_time'
                                else 'attempts_exhausted' end as reason) verdict
     where job."id" = any (p_ids)
  ), buried as (
    update "unstuck"."jobs" job
       set "status" = /*dead*/'dead', "finished_at" = v_now, "updated_at" = v_now, "run_at" = null,
           /*+last_error "last_error" = spent.reason, */
           "error_code" = spent.code, "error_reason" = spent.reason,
           "error_category" = null, "error_stack" = null, "error_attempt" = coalesce(job."attempt", 0)
      from spent
     where job."id" = spent.id and job."id" = any (p_ids)
    returning job."id" as id, coalesce(job."stage", p_policy.default_stage, job."type")::text as stage,
              coalesce(job."attempt", 0)::int as attempt, spent.code, spent.reason
  )
  select array_agg(row(id::text, "unstuck".failure_event('dead', code), jsonb_build_object(
                         'code', code, 'reason', reason, 'attempt', attempt, 'stage', stage))::"unstuck".new_event),
         array_agg(row(id::text, 'dead', reason, stage, attempt, null, null)::"unstuck".reaped_job order by id)
    into v_events, v_buried
    from buried;
  perform "unstuck"."record_events"(v_now, v_events);
  return query select * from pg_catalog.unnest(v_buried);
end
$$;
