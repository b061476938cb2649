-- Running jobs past their lease by more than another lease: none while a reaper works (OPS-4).
select count(*)::int as jobs, (array_agg(running.id::text order by running.ended_at))[1:5] as ids,
       "unstuck".ms_between(min(running.ended_at), now()) as oldest_ms
  from "unstuck"."running_jobs"("unstuck".policy_of(/*attachment*/'native', ($1::text)::jsonb)) running
 where "unstuck".after_ms(running.ended_at, running.lease_ms) < now()
