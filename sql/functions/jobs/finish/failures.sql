-- Private: the reported failures in the order given, with defaults filled in. A timeout counts as a failure if the
-- table does not count timeouts.
create or replace function "unstuck"."asked_failures"(p_failures jsonb)
returns table (ordinal bigint, id /*id*/uuid, lease_id uuid, code text, reason text, category text, stack text,
               is_retryable boolean, retry_in_ms float8, is_timeout boolean, is_passing boolean, steps_ms bigint[],
               handler_attempts int)
language sql stable
begin atomic
  select asked.ordinality, asked.id, asked.lease_id, coalesce(asked.code, 'UNKNOWN'), asked.reason,
         coalesce(asked.category, 'TRANSIENT'), asked.stack, coalesce(asked.is_retryable, true),
         round(asked.retry_in_ms, 3)::float8, /*counts_timeouts*/(coalesce(asked.cause = 'timeout', false)),
         coalesce(asked.is_retryable, true) and coalesce(asked.category, 'TRANSIENT') = 'TRANSIENT'
           and asked.cause is distinct from 'timeout',
         translate(nullif(asked.backoff_steps_ms, 'null'::jsonb)::text, '[]', '{}')::bigint[], asked.max_attempts
    from rows from (jsonb_to_recordset(p_failures) as (
           id /*id*/uuid, lease_id uuid, code text, reason text, category text, stack text, is_retryable boolean,
           retry_in_ms numeric, cause text, backoff_steps_ms jsonb, max_attempts int)) with ordinality asked;
end;

-- Private: the maximum of attempts of a job: its own, or its handler's if it was enqueued with the policy's.
create or replace function "unstuck".maximum_of(p_policy "unstuck".policies, p_own int, p_handler int)
returns int language sql immutable
return case when coalesce(p_own, p_policy.max_attempts) = p_policy.max_attempts then coalesce(p_handler, p_own)
            else p_own end;

-- Private: the attempt count after a reported failure or timeout, at most the maximum. A failure that costs no attempt
-- gives back the one of the claim.
create or replace function "unstuck".failed_attempt(
  p_policy "unstuck".policies, p_is_timeout boolean, p_attempt int, p_max_attempts int,
  p_is_free boolean default false)
returns int language sql immutable
return coalesce(p_attempt, 0) + case
    when p_is_free then case when p_policy.attempt_counted_at = 'claim' and p_attempt > 0 then -1 else 0 end
    when coalesce(p_attempt, 0) >= coalesce(p_max_attempts, p_policy.max_attempts) then 0
    when p_policy.attempt_counted_at = 'failure-and-reap' then 1
    when p_policy.attempt_counted_at = 'failure' and not p_is_timeout then 1
    else 0
  end;

-- Private: the event type of a failure.
create or replace function "unstuck".failure_event(p_outcome text, p_code text)
returns text language sql immutable
return case p_outcome when 'retried' then 'retry' when 'dead' then case when p_code = 'EXPIRED' then 'expired'
                                                                          else 'failed' end
                        else p_outcome end;

-- Private: which retry a failure leads to, counted from 1. Without a subquery, so that it is inlined.
create or replace function "unstuck".retry_ordinal(
  p_policy "unstuck".policies, p_attempt int, p_failures int, p_crashes int, p_timeouts int)
returns int language sql immutable
return case when p_policy.failure_budget = 'failures' then p_failures + p_timeouts
            else "unstuck".spent_attempts(p_policy, p_attempt, p_failures, p_crashes, p_timeouts) end;

-- Private: the wait after a failure, from the counts that include it; NULL if the job ended. A probe job of a
-- half-open breaker waits a moment, so that another job is tried next. p_steps_ms are the waits of the job or its
-- handler: whoever asks for 100 ms should not wait for seconds of jitter, so that is at most as long as the wait.
create or replace function "unstuck".failure_wait_ms(
  p_policy "unstuck".policies, p_outcome text, p_asked_ms float8, p_steps_ms bigint[], p_attempt int,
  p_failures int, p_crashes int, p_timeouts int)
returns float8 language sql volatile
return case p_outcome
    when 'released' then greatest(p_asked_ms, 1000)
    when 'retried' then coalesce(p_asked_ms, "unstuck".backoff_ms(
      coalesce(p_steps_ms, p_policy.failure_backoff_steps_ms), p_policy.failure_backoff_base_ms,
      p_policy.failure_backoff_max_ms, least(p_policy.failure_backoff_jitter_ms, p_steps_ms[least(greatest(
        "unstuck".retry_ordinal(p_policy, p_attempt, p_failures, p_crashes, p_timeouts), 1), cardinality(p_steps_ms))]),
      "unstuck".retry_ordinal(p_policy, p_attempt, p_failures, p_crashes, p_timeouts), random()))
  end;

-- Private: does a reported failure or timeout end the job? It does if it is not retryable or the budget is spent
-- (FAIL-5), from the counts that include it. Timeouts are bounded like reaps. A job that goes back to waiting must be
-- claimable.
create or replace function "unstuck".is_failure_final(
  p_policy "unstuck".policies, p_is_retryable boolean, p_category text, p_is_timeout boolean,
  p_attempt int, p_failures int, p_crashes int, p_timeouts int, p_max_attempts int)
returns boolean language sql immutable
return not p_is_retryable or p_category in ('PERMANENT', 'CRITICAL')
      or (case when p_is_timeout then p_policy.reap_budget else p_policy.failure_budget end = 'attempts'
          and "unstuck".spent_attempts(p_policy, p_attempt, p_failures, p_crashes, p_timeouts)
              >= coalesce(p_max_attempts, p_policy.max_attempts))
      or not "unstuck".has_budget(p_policy, p_attempt, p_failures, p_crashes, p_timeouts, p_max_attempts);
