-- Private: the wait after a reap, from the counts before it.
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

-- Private: the time over which jobs that crashed in one process are spread: a whole backoff, so that one that kills
-- its process does not meet the same others again (REAP-15, C25). 0 for one job, for timeouts, and if the policy
-- spreads nothing.
create or replace function "unstuck".cohort_spread_ms(
  p_policy "unstuck".policies, p_is_timeout boolean, p_jobs bigint, p_backoff_ms bigint)
returns bigint language sql immutable
return case when p_policy.requeue_rate_per_s > 0 and p_jobs > 1 and not p_is_timeout then p_backoff_ms else 0 end;

-- Private: the time over which a mass of reaped jobs is spread, at the policy's rate; NULL for none. At most a year,
-- which reap_jobs accepts.
create or replace function "unstuck".spread_ms(p_policy "unstuck".policies, p_jobs bigint)
returns float8 language sql immutable
return case when p_policy.requeue_rate_per_s > 0 then least(
    1000 * least(p_jobs, 31536000 * p_policy.requeue_rate_per_s) / p_policy.requeue_rate_per_s, 31536000000) end;
