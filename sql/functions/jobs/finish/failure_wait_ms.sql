-- Private: how long a job waits after a failure, from the counts with that failure in them; NULL where it ended. What a
-- half-open breaker let through waits a moment, so that another job is tried next.
create or replace function "unstuck".failure_wait_ms(
  p_policy "unstuck".policies, p_outcome text, p_asked_ms float8, p_attempt int, p_failures int, p_crashes int,
  p_timeouts int)
returns float8 language sql volatile
return case p_outcome
    when 'released' then greatest(p_asked_ms, 1000)
    when 'retried' then coalesce(p_asked_ms, "unstuck".backoff_ms(
      p_policy.failure_backoff_steps_ms, p_policy.failure_backoff_base_ms, p_policy.failure_backoff_max_ms,
      p_policy.failure_backoff_jitter_ms,
      case when p_policy.failure_budget = 'failures' then p_failures + p_timeouts
           else "unstuck".spent_attempts(p_policy, p_attempt, p_failures, p_crashes, p_timeouts) end, random()))
  end;
