-- Private: checks the argument of fail_jobs.
create or replace function "unstuck".require_failures(p_failures jsonb, p_id_type text)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_problem text;
begin
  perform "unstuck".require(jsonb_typeof(p_failures) = 'array', 'failures', p_failures::text, 'an array of failures');
  -- OFFSET as in enqueue_jobs.
  select problem into v_problem
    from (select "unstuck".failure_problem(failure, p_id_type) as problem
            from jsonb_array_elements(p_failures) failure offset 0) checked
   where problem is not null limit 1;
  if v_problem is not null then
    raise exception using errcode = 'UN001', message = v_problem;
  end if;
  return true;
end
$$;

-- Private: the reason why a reported failure is invalid; NULL if it is valid. One expression, inlined like
-- job_problem.
create or replace function "unstuck".failure_problem(p_failure jsonb, p_id_type text)
returns text language sql stable
return case
    when p_failure ->> 'id' is null or p_failure ->> 'lease_id' is null
      then 'failure: got no id or no lease_id, takes both'
    when p_failure - '{id,lease_id,code,reason,category,stack,is_retryable,retry_in_ms,backoff_steps_ms,
                       max_attempts,cause}'::text[] <> '{}'
      then format('failure: got %s, takes id, lease_id, code, reason, category, stack, is_retryable, retry_in_ms, '
                  'backoff_steps_ms, max_attempts and cause', left(jsonb_path_query_first(
        p_failure - '{id,lease_id,code,reason,category,stack,is_retryable,retry_in_ms,backoff_steps_ms,max_attempts,
                      cause}'::text[], '$.keyvalue()') ->> 'key', 60))
    when not "unstuck".is_id(p_failure ->> 'id', p_id_type)
      then format('id: got %s, takes the id of a job, a %s', left((p_failure -> 'id')::text, 60), p_id_type)
    when not "unstuck".is_id(p_failure ->> 'lease_id', 'uuid')
      then format('lease_id: got %s, takes a uuid', left((p_failure -> 'lease_id')::text, 60))
    -- Reserved: this code marks a cancelled job, which is never retried.
    when jsonb_typeof(p_failure -> 'code') not in ('string', 'null') or p_failure ->> 'code' = 'cancelled'
      then format('code: got %s, takes text other than cancelled', left((p_failure -> 'code')::text, 60))
    when jsonb_typeof(p_failure -> 'reason') not in ('string', 'null')
      then format('reason: got %s, takes text', left((p_failure -> 'reason')::text, 60))
    when p_failure ->> 'category' not in ('TRANSIENT', 'PERMANENT', 'CRITICAL')
      then format('category: got %s, takes TRANSIENT, PERMANENT or CRITICAL', left((p_failure -> 'category')::text, 60))
    when jsonb_typeof(p_failure -> 'stack') not in ('string', 'null')
      then format('stack: got %s, takes text', left((p_failure -> 'stack')::text, 60))
    when jsonb_typeof(p_failure -> 'is_retryable') not in ('boolean', 'null')
      then format('is_retryable: got %s, takes true or false', left((p_failure -> 'is_retryable')::text, 60))
    when jsonb_typeof(p_failure -> 'retry_in_ms') not in ('number', 'null')
      or (p_failure ->> 'retry_in_ms')::numeric not between 0 and 31536000000
      then format('retry_in_ms: got %s, takes milliseconds from 0 to one year',
                  left((p_failure -> 'retry_in_ms')::text, 60))
    when "unstuck".are_steps(p_failure -> 'backoff_steps_ms') is false
      then format('backoff_steps_ms: got %s, takes 1 to 100 whole milliseconds up to one year',
                  left((p_failure -> 'backoff_steps_ms')::text, 60))
    when jsonb_typeof(p_failure -> 'max_attempts') not in ('number', 'null')
      or (p_failure ->> 'max_attempts')::numeric not between 1 and 1000
      or (p_failure ->> 'max_attempts')::numeric <> trunc((p_failure ->> 'max_attempts')::numeric)
      then format('max_attempts: got %s, takes a whole number from 1 to 1000',
                  left((p_failure -> 'max_attempts')::text, 60))
    when p_failure ->> 'cause' not in ('failure', 'timeout')
      then format('cause: got %s, takes failure or timeout', left((p_failure -> 'cause')::text, 60))
  end;

-- Private: checks the arguments of release_jobs.
create or replace function "unstuck".require_release(
  p_delay_ms bigint, p_cause text, p_spread_ms float8, p_reason text)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".require(coalesce(p_delay_ms, 0) between 0 and 31536000000, 'delay_ms', p_delay_ms::text,
                            'milliseconds from 0 to one year');
  perform "unstuck".require(p_spread_ms between 0 and 86400000, 'spread_ms', p_spread_ms::text,
                            'milliseconds from 0 to one day');
  perform "unstuck".require(p_cause in ('release', 'interruption'), 'cause', p_cause, 'release or interruption');
  return "unstuck".require(coalesce(length(p_reason), 1) between 1 and 1000, 'reason', p_reason,
                           '1 to 1000 characters');
end
$$;

-- Private: the results of jobs as JSON, by position. Before PostgreSQL 16 only a cast can tell whether text is JSON.
create or replace function "unstuck".require_results(p_results text[], p_jobs int)
returns jsonb[] language plpgsql immutable as $$
declare
  v_result text;
begin
  if p_results is null then
    return null;
  end if;
  perform "unstuck".require(
    cardinality(p_results) = p_jobs and coalesce(array_ndims(p_results), 1) = 1,
    'results', format('%s results for %s jobs', cardinality(p_results), p_jobs),
    'one for each job in an array of one dimension, or NULL');
  begin
    return p_results::jsonb[];
  exception when data_exception or program_limit_exceeded then
    null;
  end;
  -- One of them is not JSON: find out which.
  foreach v_result in array p_results loop
    begin
      perform v_result::jsonb;
    exception when data_exception or program_limit_exceeded then
      perform "unstuck".require(false, 'results', v_result, 'JSON that PostgreSQL can store');
    end;
  end loop;
  return null;
end
$$;
