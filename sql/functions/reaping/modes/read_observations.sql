-- Actions that sweeps would have taken since the mode became observe, and the outcomes of those jobs. came_back counts
-- reaps that would have been wrong; reaped counts jobs reaped manually.
create or replace function "unstuck"."read_observations"()
returns table (since timestamptz, would_requeue int, would_dead_letter int, would_cancel int, came_back int,
               still_stuck int, reaped int, gone int)
language plpgsql stable as $$
declare
  v_job_ids text[]; v_leases text[]; v_outcomes text[];
begin
  select array_agg(now_is.job_id), array_agg(now_is.lease), array_agg(now_is.outcome)
    into v_job_ids, v_leases, v_outcomes from "unstuck"."observed_outcomes"() now_is;
  return query
  select coalesce(min(attached.mode_since) filter (where attached.mode = 'observe'), min(seen.seen_at)),
         count(*) filter (where seen.verdict = 'requeued')::int,
         count(*) filter (where seen.verdict = 'dead')::int,
         count(*) filter (where seen.verdict = 'cancelled')::int,
         count(*) filter (where became.outcome = 'came-back')::int,
         count(seen.job_id) filter (where coalesce(became.outcome, 'still-stuck') = 'still-stuck')::int,
         count(*) filter (where became.outcome = 'reaped')::int,
         count(*) filter (where became.outcome = 'gone')::int
    from "unstuck".attachments attached
    left join "unstuck".observations seen on seen.attachment = attached.name
    left join unnest(v_job_ids, v_leases, v_outcomes) now_is(job_id, lease, outcome)
      on now_is.job_id = seen.job_id and now_is.lease = seen.lease and seen.outcome is null,
         lateral (select coalesce(seen.outcome, now_is.outcome) as outcome) became
   where attached.name = /*attachment*/'native';
end
$$;

-- Private: open observations with the outcome of each job; NULL without a sign of life since.
create or replace function "unstuck"."observed_outcomes"()
returns table (job_id text, lease text, outcome text) language plpgsql stable as $$
declare
  v_ids /*id*/uuid[]; v_leases text[]; v_signs timestamptz[];
begin
  if not exists (select from "unstuck".observations seen
                  where seen.attachment = /*attachment*/'native' and seen.outcome is null) then
    return;
  end if;
  select array_agg(running.id), array_agg(running.lease), array_agg(running.sign_at) into v_ids, v_leases, v_signs
    from "unstuck"."running_jobs"("unstuck".policy_of(/*attachment*/'native')) running;
  return query
  select seen.job_id, seen.lease,
         case when job."id" is null then 'gone'
              when running.lease = seen.lease and running.sign_at is not distinct from seen.sign_at then null
              when exists (
                select from "unstuck".events event
                 where event.attachment = seen.attachment and event.job_id = seen.job_id and event.at >= seen.seen_at
                   and (event.type in ('reaper:requeued', 'reaper:failed(timeout)', 'reaper:cancelled')
                        or event.data -> 'details' ->> 'reason' = 'attempts_exhausted')) then 'reaped'
              else 'came-back' end
    from "unstuck".observations seen
    left join "unstuck"."jobs" job on job."id" = seen.job_id::/*id*/uuid
    left join unnest(v_ids, v_leases, v_signs) running(id, lease, sign_at) on running.id = job."id"
   where seen.attachment = /*attachment*/'native' and seen.outcome is null;
end
$$;

-- Private: records outcomes of observed jobs. Without a sign of life they stay open, or end as p_otherwise. A job
-- moved by another program counts as come back too: it cannot be told from a worker.
create or replace function "unstuck"."record_observed_outcomes"(p_at timestamptz, p_otherwise text default null)
returns int language plpgsql as $$
declare
  v_job_ids text[]; v_leases text[]; v_outcomes text[];
  v_count int;
begin
  select array_agg(now_is.job_id), array_agg(now_is.lease), array_agg(coalesce(now_is.outcome, p_otherwise))
    into v_job_ids, v_leases, v_outcomes
    from "unstuck"."observed_outcomes"() now_is where coalesce(now_is.outcome, p_otherwise) is not null;
  with looked as materialized (
    select seen.job_id, seen.lease, now_is.outcome
      from "unstuck".observations seen
      join unnest(v_job_ids, v_leases, v_outcomes) now_is(job_id, lease, outcome)
        on now_is.job_id = seen.job_id and now_is.lease = seen.lease
     where seen.attachment = /*attachment*/'native' and seen.outcome is null
     order by seen.job_id, seen.lease
       for update of seen skip locked
  )
  update "unstuck".observations seen set outcome = looked.outcome, outcome_at = p_at
    from looked
   where seen.attachment = /*attachment*/'native' and seen.job_id = looked.job_id and seen.lease = looked.lease;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
