-- Private: attempts that count toward the budget and the backoff. Some workers claim without raising the attempt
-- count of their table, which then stays 0: the attempts that are known to have ended count instead. Any other number
-- is believed, also one that an operator has set back.
create or replace function "unstuck".spent_attempts(
  p_policy "unstuck".policies, p_attempt int, p_failures int, p_crashes int, p_timeouts int)
returns int language sql immutable
return case when p_policy.attempt_counted_at = 'claim' and coalesce(p_attempt, 0) = 0
              then coalesce(p_failures, 0) + coalesce(p_crashes, 0) + coalesce(p_timeouts, 0)
              else coalesce(p_attempt, 0) end;
