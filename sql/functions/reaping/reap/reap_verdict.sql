-- Private: what becomes of a job whose lease ran out.
create or replace function "unstuck".reap_verdict(
  p_policy "unstuck".policies, p_is_cancelled boolean, p_is_timeout boolean,
  p_attempt int, p_failures int, p_crashes int, p_timeouts int, p_max_attempts int)
returns text language sql immutable
return case
           when p_is_cancelled then 'cancelled'
           when "unstuck".is_reap_final(
                  p_policy, p_is_timeout, p_attempt, p_failures, p_crashes, p_timeouts, p_max_attempts) then 'dead'
           else 'requeued'
         end;
