-- Returns jobs without spending an attempt: at once, or after p_delay_ms, each p_spread_ms after the one before.
-- p_cause distinguishes a deploy (interruption) from a release. A job with a requested cancel ends as cancelled.
-- p_reason is set by handlers and outside limits: it is always recorded, and the waits of a job released often double.
create or replace function "unstuck"."release_jobs"(
  p_ids /*id*/uuid[], p_lease_ids uuid[], p_delay_ms bigint default null, p_cause text default 'release',
  p_spread_ms float8 default 0, p_actor text default null, p_reason text default null)
returns setof "unstuck".job_outcome language plpgsql set enable_seqscan = off as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native');
  v_now timestamptz := clock_timestamp();
  v_released /*id*/uuid[]; v_cancelled /*id*/uuid[]; v_queues text[];
  v_last_ms jsonb; v_waits jsonb; -- By id.
  v_events "unstuck".new_event[];
begin
  perform "unstuck".require_leases(p_ids, p_lease_ids);
  perform "unstuck".require_release(p_delay_ms, p_cause, p_spread_ms, p_reason);
  if p_reason is not null then
    select jsonb_object_agg(give.id::text, "unstuck"."last_release_ms"(give.id)) into v_last_ms
      from pg_catalog.unnest(p_ids) give(id);
  end if;
  with held as materialized (
    select job."id" as id, give.lease_id, job."worker_id" as worker_id,
           coalesce(job."queue", job."type")::text as queue,
           job."cancel_requested_at" is not null as is_cancelled,
           nullif(case when p_reason is null then asked.delay_ms
                       else "unstuck".release_delay_ms(asked.delay_ms, (v_last_ms ->> job."id"::text)::float8,
                       "unstuck".is_released_often(job."releases", job."started_at", v_now)) end, 0::float8) as delay_ms
      from (select * from unnest(p_ids, p_lease_ids) with ordinality give(id, lease_id, ordinal) order by id) give,
           -- Row by row through the primary key, as in complete_jobs.
           lateral (select * from "unstuck"."jobs" job
                     where job."id" = give.id and job."lease_id" = give.lease_id
                       and job."status" is not distinct from /*any_running*/'running'
                       for no key update) job,
           lateral (select coalesce(p_delay_ms, 0)::float8 + (give.ordinal - 1)::float8 * p_spread_ms as delay_ms) asked
  ), released as (
    update "unstuck"."jobs" job
       set "status" = case when held.is_cancelled then /*cancelled*/'cancelled' else /*waiting*/'waiting' end,
           "run_at" = case when not held.is_cancelled then held.due_at end,
           "finished_at" = case when held.is_cancelled then v_now end, "updated_at" = v_now,
           "finished_lease_id" = held.lease_id,
           "worker_id" = null, "lease_id" = null, "lease_expires_at" = null, "deadline_at" = null,
           /*+lock_time "last_attempt_at" = null, */
           "attempt" = greatest(
             coalesce(job."attempt", 0) - case when v_policy.attempt_counted_at = 'claim' then 1 else 0 end, 0),
           "releases" = case when p_cause = 'release' then coalesce(job."releases", 0) + 1 else job."releases" end,
           "interruptions" = case when p_cause = 'interruption' then coalesce(job."interruptions", 0) + 1
                                  else job."interruptions" end,
           "error_code" = case when held.is_cancelled then 'cancelled' else job."error_code" end
      from (select *, "unstuck".after_ms(v_now, delay_ms) as due_at from held) held
     where job."id" = held.id and job."id" = any (p_ids)
    returning job."id" as id, held.is_cancelled, held.worker_id, held.queue, held.delay_ms,
              job."attempt" as attempt, job."releases" as releases
  )
  select array_agg(id) filter (where not is_cancelled), array_agg(id) filter (where is_cancelled),
         jsonb_object_agg(id, delay_ms) filter (where not is_cancelled),
         array_agg(queue) filter (where not is_cancelled),
         array_agg(row(id::text, case when is_cancelled then 'cancelled' else 'released' end,
                       jsonb_build_object('cause', p_cause, 'worker_id', worker_id, 'attempt', attempt, 'delay_ms',
                                          delay_ms)
                         || case when p_reason is null then '{}' else jsonb_build_object('reason', p_reason,
                                                                                         'releases', releases) end
                         || "unstuck".acted_by(p_actor))::"unstuck".new_event)
           filter (where is_cancelled or p_reason is not null or v_policy.events = 'all')
    into v_released, v_cancelled, v_waits, v_queues, v_events
    from released;
  perform "unstuck"."record_events"(v_now, v_events);
  perform "unstuck".announce_requeued(v_policy, v_released::text[], v_queues, array(
    select coalesce((v_waits ->> id::text)::float8, 0) from pg_catalog.unnest(v_released) id));
  return query
  select answer.id, case when ended.id is null then answer.outcome else 'cancelled' end,
         case when answer.outcome = 'released' and v_waits ? answer.id
              then coalesce((v_waits ->> answer.id)::float8, 0) end
    from "unstuck"."job_outcomes"(p_ids, p_lease_ids, array_cat(v_released, v_cancelled), 'released')
           with ordinality answer(id, outcome, retry_in_ms, ordinal)
    left join pg_catalog.unnest(v_cancelled) ended(id) on ended.id::text = answer.id and answer.outcome = 'released'
   order by answer.ordinal;
end
$$;
