-- What is wrong with a job as it is asked for; NULL where nothing is. One expression, so that a scan checks a batch.
create or replace function "unstuck".job_problem(p_job jsonb)
returns text language sql immutable as $$
  select case
    when jsonb_typeof(p_job) is distinct from 'object'
      then format('job: got %s, takes an object', left(p_job::text, 60))
    when jsonb_typeof(p_job -> 'type') is distinct from 'string' or length(p_job ->> 'type') not between 1 and 200
      then format('type: got %s, takes 1 to 200 characters', coalesce(left(p_job ->> 'type', 60), 'NULL'))
    when coalesce(jsonb_typeof(p_job -> 'priority'), 'null') not in ('number', 'null')
      or (p_job ->> 'priority')::numeric not between -32768 and 32767
      or (p_job ->> 'priority')::numeric <> trunc((p_job ->> 'priority')::numeric)
      then format('priority: got %s, takes a whole number from -32768 to 32767', p_job ->> 'priority')
    when coalesce(jsonb_typeof(p_job -> 'delay_ms'), 'null') not in ('number', 'null')
      or (p_job ->> 'delay_ms')::numeric not between 0 and 315360000000
      then format('delay_ms: got %s, takes milliseconds from 0 to ten years', p_job ->> 'delay_ms')
    when p_job ->> 'delay_ms' is not null and p_job ->> 'run_at' is not null
      then 'run_at: got a time beside delay_ms, takes one of the two'
    when p_job ->> 'run_at' !~ '^\d{4}-\d\d-\d\d[T ]\d\d:\d\d'
      then format('run_at: got %s, takes an ISO 8601 time', left(p_job ->> 'run_at', 60))
    when coalesce(jsonb_typeof(p_job -> 'max_attempts'), 'null') not in ('number', 'null')
      or (p_job ->> 'max_attempts')::numeric not between 1 and 1000
      or (p_job ->> 'max_attempts')::numeric <> trunc((p_job ->> 'max_attempts')::numeric)
      then format('max_attempts: got %s, takes a whole number from 1 to 1000', p_job ->> 'max_attempts')
    when coalesce(jsonb_typeof(p_job -> 'expected_duration_ms'), 'null') not in ('number', 'null')
      or (p_job ->> 'expected_duration_ms')::numeric not between 0 and 2147483647
      or (p_job ->> 'expected_duration_ms')::numeric <> trunc((p_job ->> 'expected_duration_ms')::numeric)
      then format('expected_duration_ms: got %s, takes whole milliseconds from 0 to 2147483647',
                  p_job ->> 'expected_duration_ms')
  end
$$;
