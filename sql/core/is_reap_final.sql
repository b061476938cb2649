-- Is a job whose lease ran out, with these counts, out of budget? (REAP-2, FAIL-5)
create or replace function "unstuck".is_reap_final(
  p_policy "unstuck".policies, p_is_timeout boolean, p_attempt int, p_crashes int, p_timeouts int, p_max_attempts int)
returns boolean language sql immutable as $$
  select case
           when p_policy.reap_budget = 'attempts'
             then coalesce(p_attempt, 0) >= coalesce(p_max_attempts, p_policy.max_attempts)
           when p_is_timeout then coalesce(p_timeouts, 0) + 1 >= p_policy.max_timeouts
           else coalesce(p_crashes, 0) + 1 >= p_policy.max_crashes
         end
$$;
