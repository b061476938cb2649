-- Private: does a job have budget for another attempt? Compares budgets, never the ordinal of the claim (C10). A claim
-- checks it on the native table only: in a team's table a waiting job runs once more, and its end is judged (C29).
create or replace function "unstuck".has_budget(
  p_policy "unstuck".policies, p_attempt int, p_failures int, p_crashes int, p_timeouts int, p_max_attempts int)
returns boolean language sql immutable
  -- Most jobs have never run: skip the policy, whose fields are slow to read.
return p_attempt = 0 and p_failures is null and p_crashes is null and p_timeouts is null
         and coalesce(p_max_attempts, 1) > 0
      or (p_policy.reap_budget <> 'crashes'
          or (coalesce(p_crashes, 0) < p_policy.max_crashes and coalesce(p_timeouts, 0) < p_policy.max_timeouts))
     and case
           when p_policy.failure_budget = 'failures'
             then coalesce(p_failures, 0) < coalesce(p_max_attempts, p_policy.max_attempts)
           -- If crashes have their own budget, a crash at the last attempt leaves one more: a failure that spends the
           -- last one ends the job itself.
           when p_policy.attempt_counted_at in ('claim', 'failure') and p_policy.reap_budget = 'crashes' then true
           -- A reap that counts as an attempt leaves a job waiting at its maximum, with one claim left.
           when p_policy.attempt_counted_at = 'failure-and-reap'
             then coalesce(p_attempt, 0) <= coalesce(p_max_attempts, p_policy.max_attempts)
           else "unstuck".spent_attempts(p_policy, p_attempt, p_failures, p_crashes, p_timeouts)
                < coalesce(p_max_attempts, p_policy.max_attempts)
         end;

-- Private: attempts that count toward budget and backoff. Some workers claim without raising the attempt count of
-- their table: while it is 0, attempts known to have ended count instead. Any other number counts, including one that
-- an operator reset.
create or replace function "unstuck".spent_attempts(
  p_policy "unstuck".policies, p_attempt int, p_failures int, p_crashes int, p_timeouts int)
returns int language sql immutable
return case when p_policy.attempt_counted_at = 'claim' and coalesce(p_attempt, 0) = 0
              then coalesce(p_failures, 0) + coalesce(p_crashes, 0) + coalesce(p_timeouts, 0)
              else coalesce(p_attempt, 0) end;

-- Private: would one more crash end this waiting job, which has crashed before? It then runs alone: at most one of the
-- jobs in a process that died is guilty, and none of the others may be ended for it (REAP-15, C25). In PL/pgSQL,
-- because inlined it made every claim 80 µs slower, though almost no job has crashed.
create or replace function "unstuck".is_last_chance(
  p_policy "unstuck".policies, p_attempt int, p_failures int, p_crashes int, p_timeouts int, p_max_attempts int)
returns boolean language plpgsql immutable as $$
begin
  return coalesce(p_crashes, 0) > 0 and "unstuck".is_reap_final(
    p_policy, false, coalesce(p_attempt, 0) + (p_policy.attempt_counted_at = 'claim')::int, p_failures, p_crashes,
    p_timeouts, p_max_attempts);
end
$$;
