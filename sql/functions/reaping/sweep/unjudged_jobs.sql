-- Private: running rows without a lease that no rule can judge. They are reported and never touched (REAP-8).
create or replace function "unstuck"."unjudged_jobs"(p_policy "unstuck".policies, p_limit int)
returns setof "unstuck".reaped_job language sql stable as $$
  select running.id::text, 'reported', 'no_lease_to_judge_by', running.stage, coalesce(running.attempt, 0),
         running.worker_id, null::float8
    from "unstuck"."running_jobs"(p_policy) running
   where running.ended_at is null
   order by running.id limit p_limit
$$;
