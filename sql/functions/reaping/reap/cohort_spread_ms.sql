-- Private: over how long jobs that crashed in one process come back: a whole backoff, so that one that kills its
-- process does not meet the same others again (REAP-15, C25). 0 for one job, for timeouts, and where the policy
-- spreads nothing.
create or replace function "unstuck".cohort_spread_ms(
  p_policy "unstuck".policies, p_is_timeout boolean, p_jobs bigint, p_backoff_ms bigint)
returns bigint language sql immutable
return case when p_policy.requeue_rate_per_s > 0 and p_jobs > 1 and not p_is_timeout then p_backoff_ms else 0 end;
