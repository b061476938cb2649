-- Health of the table, computed from its rows and never from a reaper's report (C11). Reads unfinished rows only.
create or replace function "unstuck"."read_health"(p_policy jsonb default null)
returns table (waiting int, due int, running int, overdue int, oldest_overdue_ms float8, oldest_due_ms float8,
               unjudged int, reaper_age_ms float8, hold_reason text, released_often int)
language plpgsql stable as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
begin
  return query
  select waiting_jobs.all_of_them, waiting_jobs.due_now, running_jobs.all_of_them, running_jobs.ended,
         running_jobs.oldest_ms, waiting_jobs.oldest_ms, running_jobs.unjudged,
         "unstuck".ms_between(last.swept_at, now()),
         case when now() < "unstuck".after_ms(last.outage_to, v_policy.default_lease_ms) then last.hold_reason end,
         waiting_jobs.released_often
    from (select count(*)::int as all_of_them,
                 count(*) filter (where coalesce(job."run_at", job."created_at") <= now())::int as due_now,
                 "unstuck".ms_between(
                   min(coalesce(job."run_at", job."created_at"))
                     filter (where coalesce(job."run_at", job."created_at") <= now()), now()) as oldest_ms,
                 count(*) filter (where "unstuck".is_released_often(job."releases", job."started_at", now()))::int
                   as released_often
            from "unstuck"."jobs" job where job."status" = /*waiting*/'waiting') waiting_jobs,
         (select count(*)::int as all_of_them, count(*) filter (where ended_at < now())::int as ended,
                 "unstuck".ms_between(min(ended_at) filter (where ended_at < now()), now()) as oldest_ms,
                 count(*) filter (where ended_at is null)::int as unjudged
            from "unstuck"."running_jobs"(v_policy)) running_jobs
    left join "unstuck".sweeps last on last.attachment = /*attachment*/'native';
end
$$;
