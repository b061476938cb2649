-- Private: is a job whose lease ran out, with these counts, out of budget? (REAP-2, FAIL-5) Whatever ended its
-- attempt, no claim may refuse what goes back to waiting: a limit may have been lowered while it ran.
create or replace function "unstuck".is_reap_final(
  p_policy "unstuck".policies, p_is_timeout boolean, p_attempt int, p_failures int, p_crashes int, p_timeouts int,
  p_max_attempts int)
returns boolean language sql immutable
return (p_policy.reap_budget = 'attempts'
          and "unstuck".spent_attempts(
                p_policy, p_attempt, p_failures, coalesce(p_crashes, 0) + (not p_is_timeout)::int,
                coalesce(p_timeouts, 0) + p_is_timeout::int) >= coalesce(p_max_attempts, p_policy.max_attempts))
      or not "unstuck".has_budget(
           p_policy, "unstuck".reaped_attempt(p_policy, 'requeued', p_attempt, p_max_attempts), p_failures,
           coalesce(p_crashes, 0) + (not p_is_timeout)::int, coalesce(p_timeouts, 0) + p_is_timeout::int,
           p_max_attempts);
