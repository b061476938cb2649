-- Private: the fields of a claimed job that few jobs have, as they are after the claim.
create or replace function "unstuck".listed_fields(
  p_type text, p_fence bigint, p_attempt int, p_stage text, p_owner text, p_failures int, p_crashes int, p_timeouts int,
  p_max_attempts int, p_generation int, p_run_at timestamptz, p_started_at timestamptz, p_expected_duration_ms float8,
  p_traceparent text, p_reaped_at timestamptz, p_chance text)
returns json language plpgsql stable as $$
begin
  return json_build_object(
    'type', p_type, 'fence', p_fence, 'attempt', p_attempt, 'stage', p_stage, 'owner', p_owner, 'failures', p_failures,
    'crashes', p_crashes, 'timeouts', p_timeouts, 'max_attempts', p_max_attempts, 'generation', p_generation,
    'run_at', p_run_at, 'started_at', p_started_at, 'expected_duration_ms', p_expected_duration_ms,
    'traceparent', p_traceparent, 'reaped_at', p_reaped_at, 'runs_alone', p_chance = 'last');
end
$$;

-- Private: the same, NULL for a job that has none of them: that test is inlined, and the rest is not.
create or replace function "unstuck".uncommon_fields(
  p_queue text, p_default_max_attempts int, p_counted int, p_type text, p_fence bigint, p_attempt int, p_stage text,
  p_owner text, p_failures int, p_crashes int, p_timeouts int, p_max_attempts int, p_generation int,
  p_run_at timestamptz, p_started_at timestamptz, p_expected_duration_ms float8, p_traceparent text,
  p_reaped_at timestamptz, p_chance text)
returns json language sql stable
return case when num_nonnulls(
    nullif(p_type, p_queue), nullif(p_fence, 0), nullif(p_attempt, 0), p_stage, p_owner, p_failures, p_crashes,
    p_timeouts, nullif(p_max_attempts, p_default_max_attempts), nullif(p_generation, 1), p_run_at, p_started_at,
    p_expected_duration_ms, p_traceparent, p_reaped_at) > 0
  then "unstuck".listed_fields(
    p_type, coalesce(p_fence, 0) + 1, coalesce(p_attempt, 0) + p_counted, p_stage, p_owner, p_failures, p_crashes,
    p_timeouts, p_max_attempts, p_generation, p_run_at, p_started_at, p_expected_duration_ms, p_traceparent,
    p_reaped_at, p_chance) end;
