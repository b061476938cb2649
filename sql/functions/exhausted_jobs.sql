-- Private: waiting jobs that no claim will take, because their maximum was lowered under what they have spent (C10).
create or replace function "unstuck"."exhausted_jobs"(p_policy "unstuck".policies)
returns table (id /*id*/uuid, stage text, attempt int) language sql stable as $$
  select job."id", coalesce(job."stage", p_policy.default_stage, job."type"), coalesce(job."attempt", 0)::int
    from "unstuck"."jobs" job
   where job."status" = /*waiting*/'waiting'
     and not /*judged_waiting*/("unstuck".has_budget(p_policy, job."attempt", job."failures", job."crashes",
                                                     job."timeouts", job."max_attempts"))
$$;
