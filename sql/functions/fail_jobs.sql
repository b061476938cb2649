-- Decides between another try and the end, by the holder of the lease or not at all. A job whose cancel was asked for
-- ends as cancelled. p_failures: an array of { id, lease_id, code, reason, category, stack, is_retryable, retry_in_ms, cause }.
create or replace function "unstuck"."fail_jobs"(p_failures jsonb, p_policy jsonb default null)
returns setof "unstuck".settled_job language plpgsql as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_now timestamptz := clock_timestamp();
  v_settled "unstuck".settled_job[];
begin
  perform "unstuck".require_failures(p_failures);
  with failure as materialized (
    select * from jsonb_to_recordset(p_failures) as failure(
      id /*id*/uuid, lease_id uuid, code text, reason text, category text, stack text, is_retryable boolean,
      retry_in_ms float8, cause text)
  ), held as materialized (
    select job."id" as id, job."worker_id" as worker_id, job."cancel_requested_at" is not null as is_cancelled,
           job."max_attempts" as max_attempts, failure.lease_id, failure.retry_in_ms,
           coalesce(failure.code, 'UNKNOWN') as code, failure.reason, failure.stack,
           coalesce(failure.category, 'TRANSIENT') as category, coalesce(failure.is_retryable, true) as is_retryable,
           coalesce(failure.cause, 'failure') = 'timeout' as is_timeout,
           coalesce(job."attempt", 0) + case
             when v_policy.attempt_counted_at <> 'claim'
              and coalesce(job."attempt", 0) < coalesce(job."max_attempts", v_policy.max_attempts) then 1 else 0 end as attempt,
           coalesce(job."failures", 0) + case when failure.cause = 'timeout' then 0 else 1 end as failures,
           coalesce(job."timeouts", 0) + case when failure.cause = 'timeout' then 1 else 0 end as timeouts
      from failure join "unstuck"."jobs" job on job."id" = failure.id
     where job."lease_id" = failure.lease_id and job."status" is not distinct from /*running*/'running'
     order by job."id"
       for no key update of job
  ), verdict as materialized (
    select held.*,
           case when is_cancelled then 'cancelled'
                when not is_retryable or category in ('PERMANENT', 'CRITICAL')
                  or "unstuck".is_failure_final(v_policy, is_timeout, attempt, failures, timeouts, max_attempts) then 'dead'
                else 'retried' end as outcome,
           coalesce(retry_in_ms, "unstuck".backoff_ms(
             v_policy.failure_backoff_steps_ms, v_policy.failure_backoff_base_ms, v_policy.failure_backoff_max_ms,
             v_policy.failure_backoff_jitter_ms,
             case when v_policy.failure_budget = 'failures' then failures + timeouts else attempt end, random())) as backoff_ms
      from held
  ), failed as (
    update "unstuck"."jobs" job
       set "status" = case verdict.outcome when 'retried' then /*waiting*/'waiting' when 'dead' then /*dead*/'dead'
                                           else /*cancelled*/'cancelled' end,
           "run_at" = case when verdict.outcome = 'retried' then "unstuck".after_ms(v_now, verdict.backoff_ms) end,
           "finished_at" = case when verdict.outcome <> 'retried' then v_now end,
           "updated_at" = v_now,
           "finished_lease_id" = verdict.lease_id,
           "worker_id" = null, "lease_id" = null, "lease_expires_at" = null, "deadline_at" = null,
           "attempt" = verdict.attempt,
           "failures" = verdict.failures,
           "timeouts" = verdict.timeouts,
           "error_code" = case when verdict.outcome = 'cancelled' then 'cancelled' else verdict.code end,
           "error_reason" = verdict.reason,
           "error_category" = verdict.category,
           "error_stack" = verdict.stack,
           "error_attempt" = verdict.attempt
      from verdict
     where job."id" = verdict.id
    returning job."id" as id, verdict.outcome, verdict.backoff_ms, verdict.code, verdict.reason, verdict.category,
              verdict.attempt, verdict.worker_id, verdict.lease_id, job."run_at" as run_at
  ), recorded as (
    select "unstuck"."record_events"(v_now, array_agg(
             row(id::text, case outcome when 'retried' then 'retry' when 'dead' then 'failed' else 'cancelled' end,
                 jsonb_build_object('code', code, 'reason', reason, 'category', category, 'attempt', attempt,
                                    'worker_id', worker_id, 'lease_id', lease_id,
                                    'backoff_ms', case when outcome = 'retried' then backoff_ms end,
                                    'next_run_at', "unstuck".iso_utc(run_at)))::"unstuck".new_event)) as count
      from failed
  )
  select array_agg(row(id::text, outcome, case when outcome = 'retried' then backoff_ms end)::"unstuck".settled_job)
    into v_settled
    from failed, recorded where recorded.count >= 0;

  return query
  select answer.id, coalesce(settled.outcome, answer.outcome), settled.retry_in_ms
    from "unstuck"."settlements"(
           array(select (value ->> 'id')::/*id*/uuid from jsonb_array_elements(p_failures) with ordinality f(value, n) order by n),
           array(select (value ->> 'lease_id')::uuid from jsonb_array_elements(p_failures) with ordinality f(value, n) order by n),
           null, null) with ordinality answer(id, outcome, retry_in_ms, ordinal)
    left join unnest(v_settled) settled on settled.id = answer.id and answer.outcome = 'already-done'
   order by answer.ordinal;
end
$$;
