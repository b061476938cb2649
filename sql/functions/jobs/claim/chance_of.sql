-- Private: what a claim must decide about a waiting job: 'spent' has no budget or has expired, 'last' would end with
-- one more crash. NULL: nothing.
create or replace function "unstuck"."judged_chance"(
  p_policy "unstuck".policies, p_attempt int, p_failures int, p_crashes int, p_timeouts int, p_max_attempts int,
  p_expires_at timestamptz)
returns text language plpgsql stable as $$
begin
  return case when p_expires_at <= now()
                or not /*judged_waiting*/("unstuck".has_budget(p_policy, p_attempt, p_failures, p_crashes, p_timeouts,
                                                               p_max_attempts)) then 'spent'
              when "unstuck".is_last_chance(p_policy, p_attempt, p_failures, p_crashes, p_timeouts, p_max_attempts)
                then 'last' end;
end
$$;

-- Private: the same. The test for jobs that have never run is inlined; the rest is not, because it took every claim
-- 50 µs to prepare.
create or replace function "unstuck"."chance_of"(
  p_policy "unstuck".policies, p_attempt int, p_failures int, p_crashes int, p_timeouts int, p_max_attempts int,
  p_expires_at timestamptz)
returns text language sql stable
return case when num_nonnulls(nullif(p_attempt, 0), p_failures, p_crashes, p_timeouts, p_expires_at) > 0
              or p_max_attempts < 1
    then "unstuck"."judged_chance"(
      p_policy, p_attempt, p_failures, p_crashes, p_timeouts, p_max_attempts, p_expires_at) end;
