-- Private: the wait after a reap, from the counts as the sweep found them.
create or replace function "unstuck".reap_backoff_ms(
  p_policy "unstuck".policies, p_attempt int, p_failures int, p_crashes int, p_timeouts int)
returns bigint language sql immutable
return "unstuck".backoff_ms(
    p_policy.reap_backoff_steps_ms, p_policy.reap_backoff_base_ms, p_policy.reap_backoff_max_ms, 0,
    case
      when p_policy.reap_budget = 'crashes' then coalesce(p_crashes, 0) + coalesce(p_timeouts, 0) + 1
      when p_policy.attempt_counted_at = 'failure-and-reap' then coalesce(p_attempt, 0) + 1
      else "unstuck".spent_attempts(p_policy, p_attempt, p_failures, coalesce(p_crashes, 0) + 1, p_timeouts)
    end, 0);
