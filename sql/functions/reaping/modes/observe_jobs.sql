-- Private: a step of a sweep that changes no job. Records each expired lease once, unless held, with the verdict of a
-- sweep; the last step also records outcomes of earlier observations. Returns new ones as reported, and where to
-- continue.
create or replace function "unstuck"."observe_jobs"(
  p_limit int, p_cursor jsonb, p_policy "unstuck".policies, out reported jsonb, out last_id text, out is_last boolean)
language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  perform "unstuck".require(p_limit between 1 and 10000, 'limit', p_limit::text, 'a whole number from 1 to 10000');
  with overdue as materialized (
    select running.*, "unstuck".reap_verdict(
             p_policy, running.is_cancelled, running.is_timeout, running.attempt, running.failures, running.crashes,
             running.timeouts, running.max_attempts) as verdict,
           case when running.is_timeout then 'deadline_exceeded' else 'lease_expired' end as reason
      from "unstuck"."running_jobs"(p_policy) running
     where running.id > coalesce((p_cursor ->> 'after')::/*id*/uuid,
                                 /*lowest_id*/'00000000-0000-0000-0000-000000000000')
       and running.ended_at < now()
       and not "unstuck".is_held((p_cursor ->> 'outage_from')::timestamptz, (p_cursor ->> 'outage_to')::timestamptz,
                                 running.ended_at, running.heartbeat_at, running.lease_ms)
     order by running.id limit p_limit
  ), noted as (
    insert into "unstuck".observations
      (attachment, job_id, lease, verdict, reason, stage, worker_id, sign_at, seen_at)
    select /*attachment*/'native', id::text, lease, verdict, reason, stage, worker_id, sign_at, v_now
      from overdue order by id
    on conflict do nothing
    returning job_id, lease
  )
  select coalesce(jsonb_agg(jsonb_build_object(
           'id', id, 'action', 'reported', 'reason', 'would_be_' || verdict, 'stage', stage,
           'attempt', coalesce(attempt, 0), 'worker_id', worker_id, 'retry_in_ms', null) order by id)
           filter (where noted.job_id is not null), '[]'),
         (array_agg(id::text order by id desc))[1], count(*) < p_limit
    into reported, last_id, is_last
    from overdue left join noted on noted.job_id = overdue.id::text and noted.lease = overdue.lease;

  if is_last then
    perform "unstuck"."record_observed_outcomes"(v_now);
  end if;
end
$$;
