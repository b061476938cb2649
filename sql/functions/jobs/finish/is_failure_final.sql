-- Private: is a failure or timeout that the job's own worker reports, with the counts after it, the last one? It is
-- where another try is not worth it, or where the budget is spent (FAIL-5). A timeout is bounded as a reap is.
-- Whatever it is, no claim may refuse what goes back to waiting.
create or replace function "unstuck".is_failure_final(
  p_policy "unstuck".policies, p_is_retryable boolean, p_category text, p_is_timeout boolean,
  p_attempt int, p_failures int, p_crashes int, p_timeouts int, p_max_attempts int)
returns boolean language sql immutable
return not p_is_retryable or p_category in ('PERMANENT', 'CRITICAL')
      or (case when p_is_timeout then p_policy.reap_budget else p_policy.failure_budget end = 'attempts'
          and "unstuck".spent_attempts(p_policy, p_attempt, p_failures, p_crashes, p_timeouts)
              >= coalesce(p_max_attempts, p_policy.max_attempts))
      or not "unstuck".has_budget(p_policy, p_attempt, p_failures, p_crashes, p_timeouts, p_max_attempts);
