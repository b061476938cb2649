-- Attempts that count toward the budget and the backoff. Some workers claim without raising the attempt count of their
-- table; each of their crashes used one all the same. A claim that counts always stays at or above these ends.
create or replace function "unstuck".spent_attempts(
  p_policy "unstuck".policies, p_attempt int, p_failures int, p_crashes int, p_timeouts int)
returns int language sql immutable as $$
  select case when p_policy.attempt_counted_at = 'claim'
              then greatest(p_attempt, coalesce(p_failures, 0) + coalesce(p_crashes, 0) + coalesce(p_timeouts, 0), 0)
              else coalesce(p_attempt, 0) end
$$;
