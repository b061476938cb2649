-- Is a failure or timeout that the job's own worker reports, with the counts after it, the last one? It is where
-- another try is not worth it, or where the budget is spent (FAIL-5).
create or replace function "unstuck".is_failure_final(
  p_policy "unstuck".policies, p_is_retryable boolean, p_category text, p_is_timeout boolean,
  p_attempt int, p_failures int, p_timeouts int, p_max_attempts int)
returns boolean language sql immutable as $$
  select case
           when not p_is_retryable or p_category in ('PERMANENT', 'CRITICAL') then true
           when p_is_timeout and p_policy.reap_budget = 'crashes' then p_timeouts >= p_policy.max_timeouts
           when p_policy.failure_budget = 'failures' then p_failures >= coalesce(p_max_attempts, p_policy.max_attempts)
           else p_attempt >= coalesce(p_max_attempts, p_policy.max_attempts)
         end
$$;
