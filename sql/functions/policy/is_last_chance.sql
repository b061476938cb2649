-- Private: would one more crash end this waiting job, after it crashed before? It runs alone then: of the jobs that
-- ran in a process that died one is guilty at most, and none of the others may be ended for it (REAP-15, C25). In
-- PL/pgSQL: inlined, its formula made every claim 80 µs slower, though almost no job has crashed.
create or replace function "unstuck".is_last_chance(
  p_policy "unstuck".policies, p_attempt int, p_failures int, p_crashes int, p_timeouts int, p_max_attempts int)
returns boolean language plpgsql immutable as $$
begin
  return coalesce(p_crashes, 0) > 0 and "unstuck".is_reap_final(
    p_policy, false, coalesce(p_attempt, 0) + (p_policy.attempt_counted_at = 'claim')::int, p_failures, p_crashes,
    p_timeouts, p_max_attempts);
end
$$;
