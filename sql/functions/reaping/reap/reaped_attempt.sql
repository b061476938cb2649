-- Private: the attempt column after a reap: only a requeue may count, and never over the maximum.
create or replace function "unstuck".reaped_attempt(
  p_policy "unstuck".policies, p_action text, p_attempt int, p_max_attempts int)
returns int language sql immutable
return coalesce(p_attempt, 0) + case
    when p_action = 'requeued' and p_policy.attempt_counted_at = 'failure-and-reap'
     and coalesce(p_attempt, 0) < coalesce(p_max_attempts, p_policy.max_attempts) then 1
    else 0
  end;
