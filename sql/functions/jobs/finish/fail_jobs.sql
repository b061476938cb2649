-- Retries failed jobs or ends them, for the holder of their lease only. A job with a requested cancel ends as
-- cancelled. A probe job of a half-open breaker that met the failure behind it is released and loses no attempt.
-- p_failures: an array of { id, lease_id, code, reason, category, stack, is_retryable, retry_in_ms, backoff_steps_ms,
-- max_attempts, cause }. The job's own waits and maximum come before those of the failure, which are its handler's; a
-- job that was enqueued with the maximum of the policy has none of its own.
create or replace function "unstuck"."fail_jobs"(
  p_failures jsonb, p_policy jsonb default null, p_actor text default null)
returns setof "unstuck".job_outcome language plpgsql set enable_seqscan = off as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_now timestamptz := clock_timestamp(); v_ids /*id*/uuid[]; v_lease_ids uuid[]; v_queues text[];
  v_failed "unstuck".job_outcome[]; v_events "unstuck".new_event[]; v_failed_probes text[];
begin
  perform "unstuck".require_failures(p_failures, /*id_type*/'uuid');
  select array_agg(id order by ordinal), array_agg(lease_id order by ordinal) into v_ids, v_lease_ids
    from "unstuck"."asked_failures"(p_failures);
  if exists (select from "unstuck".probes where attachment = /*attachment*/'native') then
    v_failed_probes := "unstuck".failed_probes(/*attachment*/'native');
  end if;
  with held as materialized (
    select failure.*, coalesce(job."queue", job."type")::text as queue, job."worker_id" as worker_id,
           probe.max_attempts, job."cancel_requested_at" is not null as is_cancelled,
           coalesce(job."backoff_steps_ms", failure.steps_ms) as backoff_steps_ms,
           "unstuck".failed_attempt(v_policy, failure.is_timeout, job."attempt", probe.max_attempts, probe.is_so)
             as attempt, probe.is_so as is_probe, coalesce(job."releases", 0) + probe.is_so::int as releases,
           coalesce(job."failures", 0) + (not failure.is_timeout and not probe.is_so)::int as failures,
           job."crashes" as crashes, coalesce(job."timeouts", 0) + failure.is_timeout::int as timeouts
      from (select * from "unstuck"."asked_failures"(p_failures) failure order by id) failure,
           lateral (select * from "unstuck"."jobs" job -- Row by row by the primary key, as in complete_jobs.
                     where job."id" = failure.id and job."lease_id" = failure.lease_id
                       and job."status" is not distinct from /*any_running*/'running'
                       for no key update) job,
           lateral (select failure.is_passing and job."cancel_requested_at" is null and v_failed_probes is not null and
                    concat_ws(' ', job."id", coalesce(job."queue", job."type")) = any (v_failed_probes) as is_so,
                    "unstuck".maximum_of(v_policy, job."max_attempts", failure.handler_attempts) as max_attempts) probe
  ), judged as materialized (
    select held.*, outcome, "unstuck".failure_wait_ms(
             v_policy, outcome, retry_in_ms, backoff_steps_ms, attempt, failures, crashes, timeouts) as backoff_ms
      from held,
           lateral (select case when is_cancelled then 'cancelled' when is_probe then 'released'
                                when "unstuck".is_failure_final(v_policy, is_retryable, category, is_timeout, attempt,
                                                                failures, crashes, timeouts, max_attempts) then 'dead'
                                else 'retried' end as outcome) verdict
  ), failed as (
    update "unstuck"."jobs" job
       set "status" = case when judged.outcome = 'dead' then /*dead*/'dead' when judged.outcome = 'cancelled'
                           then /*cancelled*/'cancelled' else /*waiting*/'waiting' end,
           "run_at" = judged.due_at, "updated_at" = v_now,
           "finished_at" = case when judged.backoff_ms is null then v_now end, "finished_lease_id" = judged.lease_id,
           "worker_id" = null, "lease_id" = null, "lease_expires_at" = null, "deadline_at" = null,
           /*+lock_time "last_attempt_at" = null, */ /*+last_error "last_error" = judged.reason, */
           "attempt" = judged.attempt, "max_attempts" = judged.max_attempts, "failures" = judged.failures,
           "timeouts" = judged.timeouts, "releases" = judged.releases, "error_reason" = judged.reason,
           "error_code" = case when judged.outcome = 'cancelled' then 'cancelled' else judged.code end,
           "error_category" = judged.category, "error_stack" = judged.stack, "error_attempt" = judged.attempt
      from (select *, "unstuck".after_ms(v_now, backoff_ms) as due_at from judged) judged
     where job."id" = judged.id and job."id" = any (v_ids)
    returning judged.id, judged.outcome, judged.backoff_ms, judged.queue, judged.code, judged.reason, judged.category,
              judged.attempt, judged.worker_id, judged.lease_id, judged.is_probe, judged.releases, job."run_at" run_at
  )
  select array_agg(row(id::text, outcome, backoff_ms)::"unstuck".job_outcome), array_agg(queue),
         array_agg(row(
           id::text, "unstuck".failure_event(outcome, code), "unstuck".acted_by(p_actor) || jsonb_build_object(
             'code', code, 'reason', reason, 'category', category, 'attempt', attempt, 'worker_id', worker_id,
             'lease_id', lease_id, 'backoff_ms', backoff_ms, 'next_run_at', "unstuck".iso_utc(run_at))
             || case when is_probe then jsonb_build_object('cause', 'half-open', 'delay_ms', backoff_ms, 'releases',
                                                           releases) else '{}' end)::"unstuck".new_event)
    into v_failed, v_queues, v_events
    from failed;
  perform "unstuck"."record_events"(v_now, v_events);
  perform "unstuck".announce_requeued(v_policy, array_agg(id), v_queues, array_agg(retry_in_ms))
     from pg_catalog.unnest(v_failed);
  return query
  select answer.id, coalesce(failed.outcome, answer.outcome), failed.retry_in_ms
    from "unstuck"."job_outcomes"(v_ids, v_lease_ids, null, null) with ordinality answer(id, outcome, retry_in_ms, n)
    left join pg_catalog.unnest(v_failed) failed on failed.id = answer.id and answer.outcome = 'already-done'
   order by answer.n;
end
$$;
