-- Decides between another try and the end, by the holder of the lease or not at all. A job whose cancel was asked for
-- ends as cancelled. One that a half-open breaker let through, and that met the failure it stays open for, is released
-- and loses no attempt.
-- p_failures: an array of { id, lease_id, code, reason, category, stack, is_retryable, retry_in_ms, cause }.
create or replace function "unstuck"."fail_jobs"(
  p_failures jsonb, p_policy jsonb default null, p_actor text default null)
returns setof "unstuck".settled_job language plpgsql set enable_seqscan = off as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_now timestamptz := clock_timestamp();
  v_ids /*id*/uuid[];
  v_lease_ids uuid[];
  v_settled "unstuck".settled_job[];
begin
  perform "unstuck".require_failures(p_failures, /*id_type*/'uuid');
  select array_agg(id order by ordinal), array_agg(lease_id order by ordinal) into v_ids, v_lease_ids
    from "unstuck"."asked_failures"(p_failures);

  with held as materialized (
    select failure.*, job."worker_id" as worker_id, job."max_attempts" as max_attempts,
           job."cancel_requested_at" is not null as is_cancelled,
           "unstuck".failed_attempt(v_policy, failure.is_timeout, job."attempt", job."max_attempts") as attempt,
           coalesce(job."failures", 0) + (not failure.is_timeout)::int as failures,
           job."crashes" as crashes, coalesce(job."timeouts", 0) + failure.is_timeout::int as timeouts,
           coalesce(job."releases", 0) as releases,
           not failure.is_timeout and failure.is_retryable and failure.category = 'TRANSIENT'
             and exists (select from "unstuck".probes probe
                           join "unstuck".dependencies dependency
                             on dependency.attachment = probe.attachment and dependency.name = probe.breaker
                          where probe.attachment = /*attachment*/'native' and probe.job_id = job."id"::text
                            and probe.failed_at is not null
                            and dependency.queue = coalesce(job."queue", job."type")::text) as is_probe,
           greatest(0, coalesce(job."attempt", 0) - (v_policy.attempt_counted_at = 'claim')::int) as given_back
      from (select * from "unstuck"."asked_failures"(p_failures) failure order by id) failure,
           -- Row by row through the primary key, for the reason given in complete_jobs.
           lateral (select * from "unstuck"."jobs" job
                     where job."id" = failure.id and job."lease_id" = failure.lease_id
                       and job."status" is not distinct from /*any_running*/'running'
                       for no key update) job
  ), judged as materialized (
    select held.*, outcome,
           case when outcome = 'released' then greatest(retry_in_ms, 1000)
                when outcome = 'retried' then coalesce(retry_in_ms, "unstuck".backoff_ms(
             v_policy.failure_backoff_steps_ms, v_policy.failure_backoff_base_ms, v_policy.failure_backoff_max_ms,
             v_policy.failure_backoff_jitter_ms,
             case when v_policy.failure_budget = 'failures' then failures + timeouts
                  else "unstuck".spent_attempts(v_policy, attempt, failures, crashes, timeouts) end, random()))
           end as backoff_ms
      from held,
           lateral (select case when is_cancelled then 'cancelled' when is_probe then 'released'
                                when "unstuck".is_failure_final(v_policy, is_retryable, category, is_timeout, attempt,
                                                                failures, crashes, timeouts, max_attempts) then 'dead'
                                else 'retried' end as outcome) verdict
  ), failed as (
    update "unstuck"."jobs" job
       set "status" = case judged.outcome when 'dead' then /*dead*/'dead' when 'cancelled' then /*cancelled*/'cancelled'
                                          else /*waiting*/'waiting' end,
           "run_at" = "unstuck".after_ms(v_now, judged.backoff_ms), "updated_at" = v_now,
           "finished_at" = case when judged.outcome in ('dead', 'cancelled') then v_now end,
           "finished_lease_id" = judged.lease_id,
           "worker_id" = null, "lease_id" = null, "lease_expires_at" = null, "deadline_at" = null,
           /*+lock_time "last_attempt_at" = null, */ /*+last_error "last_error" = judged.reason, */
           "attempt" = case when judged.outcome = 'released' then judged.given_back else judged.attempt end,
           "failures" = judged.failures - (judged.outcome = 'released')::int, "timeouts" = judged.timeouts,
           "releases" = judged.releases + (judged.outcome = 'released')::int,
           "error_code" = case when judged.outcome = 'cancelled' then 'cancelled' else judged.code end,
           "error_reason" = judged.reason, "error_category" = judged.category, "error_stack" = judged.stack,
           "error_attempt" = judged.attempt
      from judged
     where job."id" = judged.id and job."id" = any (v_ids)
    returning judged.*, job."run_at" as run_at
  ), recorded as (
    select "unstuck"."record_events"(v_now, array_agg(
             row(id::text, case outcome when 'retried' then 'retry' when 'cancelled' then 'cancelled'
                                        when 'released' then 'released'
                                        else case when code = 'EXPIRED' then 'expired' else 'failed' end end,
                 "unstuck".acted_by(p_actor) || jsonb_build_object('code', code, 'reason', reason, 'category', category,
                   'attempt', attempt, 'worker_id', worker_id, 'lease_id', lease_id, 'backoff_ms', backoff_ms,
                   'next_run_at', "unstuck".iso_utc(run_at))
                 || case when outcome <> 'released' then '{}' else jsonb_build_object(
                      'cause', 'half-open', 'delay_ms', backoff_ms, 'attempt', given_back, 'releases', releases + 1)
                    end)::"unstuck".new_event)) as count
      from failed
  )
  select array_agg(row(id::text, outcome, backoff_ms)::"unstuck".settled_job) into v_settled
    from failed, recorded where recorded.count >= 0;
  perform "unstuck".record_dispatches(
    v_policy, array(select id from unnest(v_settled) where outcome in ('retried', 'released')))
    where v_policy.dispatch <> 'off';

  return query
  select answer.id, coalesce(settled.outcome, answer.outcome), settled.retry_in_ms
    from "unstuck"."settlements"(v_ids, v_lease_ids, null, null) with ordinality answer(id, outcome, retry_in_ms, n)
    left join unnest(v_settled) settled on settled.id = answer.id and answer.outcome = 'already-done'
   order by answer.n;
end
$$;
