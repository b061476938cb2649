-- Private: the attempt column after a failure or timeout that the holder reports; never over the maximum by that. A
-- failure that costs none gives the attempt of the claim back.
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
