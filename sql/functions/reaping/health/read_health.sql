-- Health of the table, computed from its rows and never from a reaper's report (C11). Reads unfinished rows only, and
-- about p_count_limit of them: at_least names the values that may be larger. queues are the rows of list_queues, which
-- has counted the waiting jobs.
create or replace function "unstuck"."read_health"(p_policy jsonb default null, p_count_limit int default 100000)
returns table (waiting int, due int, running int, overdue int, oldest_overdue_ms float8, oldest_due_ms float8,
               unjudged int, reaper_age_ms float8, hold_reason text, released_often int, at_least text[], queues jsonb)
language plpgsql stable set enable_seqscan = off as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_last "unstuck".sweeps;
begin
  select * into v_last from "unstuck".sweeps where attachment = /*attachment*/'native';
  return query
  select waiting_jobs.all_of_them, waiting_jobs.due_now, running_jobs.all_of_them, running_jobs.ended,
         running_jobs.oldest_ms, "unstuck".ms_between(oldest.due_at, now()), running_jobs.unjudged,
         "unstuck".ms_between(v_last.swept_at, now()),
         case when now() < "unstuck".after_ms(v_last.outage_to, v_policy.default_lease_ms) then v_last.hold_reason end,
         waiting_jobs.released_often,
         array_cat(
           array_cat(case when waiting_jobs.is_cut then array['waiting', 'due', 'released_often'] else '{}' end,
                     case when oldest.is_cut then array['oldest_due_ms'] else '{}' end),
           case when running_jobs.all_of_them = p_count_limit
                then array['running', 'overdue', 'oldest_overdue_ms', 'unjudged'] else '{}' end),
         waiting_jobs.queues
    from (select coalesce(sum(listed.waiting), 0)::int as all_of_them, coalesce(sum(listed.due), 0)::int as due_now,
                 coalesce(sum(listed.released_often), 0)::int as released_often,
                 coalesce(bool_or('waiting'::text = any (listed.at_least) or not listed.is_complete), false) as is_cut,
                 coalesce(jsonb_agg(to_jsonb(listed) order by listed.queue), '[]') as queues
            from "unstuck"."list_queues"(null, p_count_limit) listed) waiting_jobs,
         "unstuck"."oldest_due"() oldest,
         (select count(*)::int as all_of_them, count(*) filter (where ended_at < now())::int as ended,
                 "unstuck".ms_between(min(ended_at) filter (where ended_at < now()), now()) as oldest_ms,
                 count(*) filter (where ended_at is null)::int as unjudged
            from (select running.ended_at from "unstuck"."running_jobs"(v_policy) running limit p_count_limit) seen
         ) running_jobs;
end
$$;
