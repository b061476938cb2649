-- Private: the open observations, each with what has become of its job; NULL where it has shown no sign of life since.
-- An empty lease: a waiting job without budget, noted by an earlier version.
create or replace function "unstuck"."observed_outcomes"()
returns table (job_id text, lease text, outcome text) language sql stable as $$
  select seen.job_id, seen.lease,
         case when job."id" is null then 'gone'
              when seen.lease = '' and job."status" = /*waiting*/'waiting' then null
              when running.lease = seen.lease and running.sign_at is not distinct from seen.sign_at then null
              when exists (
                select from "unstuck".events event
                 where event.attachment = seen.attachment and event.job_id = seen.job_id and event.at >= seen.seen_at
                   and (event.type in ('reaper:requeued', 'reaper:failed(timeout)', 'reaper:cancelled')
                        or event.data -> 'details' ->> 'reason' = 'attempts_exhausted')) then 'reaped'
              else 'came-back' end
    from "unstuck".observations seen
    left join "unstuck"."jobs" job on job."id" = seen.job_id::/*id*/uuid
    left join "unstuck"."running_jobs"("unstuck".policy_of(/*attachment*/'native')) running on running.id = job."id"
   where seen.attachment = /*attachment*/'native' and seen.outcome is null
$$;
