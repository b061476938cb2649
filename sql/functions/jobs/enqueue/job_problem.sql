-- Private: the reason why a job cannot be enqueued; NULL if it can. One expression, stable as format() is, so that it
-- is inlined into the scan of a batch. A subquery would prevent that.
create or replace function "unstuck".job_problem(p_job jsonb)
returns text language sql stable
return case
    when "unstuck".is_plain_job(p_job) then null
    when jsonb_typeof(p_job) is distinct from 'object'
      then format('job: got %s, takes an object', left(p_job::text, 60))
    when jsonb_typeof(p_job -> 'type') is distinct from 'string' or length(p_job ->> 'type') not between 1 and 200
      then format('type: got %s, takes 1 to 200 characters', coalesce(left(p_job ->> 'type', 60), 'NULL'))
    when p_job - '{type,payload,queue,priority,delay_ms,run_at,stage,expected_duration_ms,max_attempts,backoff_steps_ms,
                   expires_at,ttl_ms,owner,group,dedupe_key,dedupe_for_ms,dedupe_replace,traceparent}'::text[] <> '{}'
      then format('job: got %s, takes type, payload, queue, priority, delay_ms, run_at, stage, expected_duration_ms, '
                  'max_attempts, backoff_steps_ms, expires_at, ttl_ms, owner, group, dedupe_key, dedupe_for_ms, '
                  'dedupe_replace and traceparent', left(jsonb_path_query_first(
        p_job - '{type,payload,queue,priority,delay_ms,run_at,stage,expected_duration_ms,max_attempts,backoff_steps_ms,
                  expires_at,ttl_ms,owner,group,dedupe_key,dedupe_for_ms,dedupe_replace,traceparent}'::text[],
        '$.keyvalue()') ->> 'key', 60))
    when jsonb_typeof(p_job -> 'queue') not in ('string', 'null') or length(p_job ->> 'queue') not between 1 and 200
      then format('queue: got %s, takes 1 to 200 characters', left(p_job ->> 'queue', 60))
    when jsonb_typeof(p_job -> 'priority') not in ('number', 'null')
      or (p_job ->> 'priority')::numeric not between -32768 and 32767
      or (p_job ->> 'priority')::numeric <> trunc((p_job ->> 'priority')::numeric)
      then format('priority: got %s, takes a whole number from -32768 to 32767', left(p_job ->> 'priority', 60))
    when jsonb_typeof(p_job -> 'delay_ms') not in ('number', 'null')
      or (p_job ->> 'delay_ms')::numeric not between 0 and 315360000000
      then format('delay_ms: got %s, takes milliseconds from 0 to ten years', left(p_job ->> 'delay_ms', 60))
    when p_job ->> 'delay_ms' is not null and p_job ->> 'run_at' is not null
      then 'run_at: got a time beside delay_ms, takes one of the two'
    when not "unstuck".is_iso_time(p_job ->> 'run_at')
      then format('run_at: got %s, takes an ISO 8601 time with its zone, such as 2030-01-31T10:00:00Z',
                  left(p_job ->> 'run_at', 60))
    when jsonb_typeof(p_job -> 'stage') not in ('string', 'null') or length(p_job ->> 'stage') not between 1 and 200
      then format('stage: got %s, takes 1 to 200 characters', left(p_job ->> 'stage', 60))
    when jsonb_typeof(p_job -> 'max_attempts') not in ('number', 'null')
      or (p_job ->> 'max_attempts')::numeric not between 1 and 1000
      or (p_job ->> 'max_attempts')::numeric <> trunc((p_job ->> 'max_attempts')::numeric)
      then format('max_attempts: got %s, takes a whole number from 1 to 1000', left(p_job ->> 'max_attempts', 60))
    when jsonb_typeof(p_job -> 'expected_duration_ms') not in ('number', 'null')
      or (p_job ->> 'expected_duration_ms')::numeric not between 0 and 2147483647
      or (p_job ->> 'expected_duration_ms')::numeric <> trunc((p_job ->> 'expected_duration_ms')::numeric)
      then format('expected_duration_ms: got %s, takes whole milliseconds from 0 to 2147483647',
                  left(p_job ->> 'expected_duration_ms', 60))
    when jsonb_typeof(p_job -> 'owner') not in ('string', 'null') or length(p_job ->> 'owner') not between 1 and 200
      then format('owner: got %s, takes 1 to 200 characters', left(p_job ->> 'owner', 60))
    when jsonb_typeof(p_job -> 'group') not in ('string', 'null') or length(p_job ->> 'group') not between 1 and 200
      then format('group: got %s, takes 1 to 200 characters', left(p_job ->> 'group', 60))
    -- Bytes too: it must fit into an index entry together with the longest type.
    when jsonb_typeof(p_job -> 'dedupe_key') not in ('string', 'null')
      or length(p_job ->> 'dedupe_key') not between 1 and 1000 or octet_length(p_job ->> 'dedupe_key') > 1800
      then format('dedupe_key: got %s, takes 1 to 1000 characters of at most 1800 bytes',
                  left(p_job ->> 'dedupe_key', 60))
    when "unstuck".rules_problem(p_job) is not null then "unstuck".rules_problem(p_job)
    when jsonb_typeof(p_job -> 'traceparent') not in ('string', 'null')
      or length(p_job ->> 'traceparent') not between 1 and 200
      then format('traceparent: got %s, takes 1 to 200 characters', left(p_job ->> 'traceparent', 60))
  end;

-- Private: the reason why what a job asks for itself is invalid; NULL if it is valid.
create or replace function "unstuck".rules_problem(p_job jsonb)
returns text language sql stable
return case
    when "unstuck".are_steps(p_job -> 'backoff_steps_ms') is false
      then format('backoff_steps_ms: got %s, takes 1 to 100 whole milliseconds up to one year',
                  left((p_job -> 'backoff_steps_ms')::text, 60))
    when jsonb_typeof(p_job -> 'ttl_ms') not in ('number', 'null')
      or (p_job ->> 'ttl_ms')::numeric not between 0 and 315360000000
      then format('ttl_ms: got %s, takes milliseconds from 0 to ten years', left(p_job ->> 'ttl_ms', 60))
    when p_job ->> 'ttl_ms' is not null and p_job ->> 'expires_at' is not null
      then 'expires_at: got a time beside ttl_ms, takes one of the two'
    when not "unstuck".is_iso_time(p_job ->> 'expires_at')
      then format('expires_at: got %s, takes an ISO 8601 time with its zone, such as 2030-01-31T10:00:00Z',
                  left(p_job ->> 'expires_at', 60))
    -- A duration beside a time is left to the claim: which of them comes first depends on when the job is enqueued.
    when (p_job ->> 'ttl_ms')::numeric <= (p_job ->> 'delay_ms')::numeric and (p_job ->> 'delay_ms')::numeric > 0
      then format('ttl_ms: got %s, takes more than delay_ms', left(p_job ->> 'ttl_ms', 60))
    when (p_job ->> 'expires_at')::timestamptz <= (p_job ->> 'run_at')::timestamptz
      then format('expires_at: got %s, takes a time after run_at', left(p_job ->> 'expires_at', 60))
    when jsonb_typeof(p_job -> 'dedupe_for_ms') not in ('number', 'null')
      or (p_job ->> 'dedupe_for_ms')::numeric not between 0.001 and 31536000000
      then format('dedupe_for_ms: got %s, takes milliseconds up to one year', left(p_job ->> 'dedupe_for_ms', 60))
    when jsonb_typeof(p_job -> 'dedupe_replace') not in ('boolean', 'null')
      then format('dedupe_replace: got %s, takes true or false', left(p_job ->> 'dedupe_replace', 60))
    when p_job ->> 'dedupe_key' is null
      and (p_job ->> 'dedupe_for_ms' is not null or p_job -> 'dedupe_replace' = 'true')
      then 'dedupe_key: got none, takes a key beside dedupe_for_ms and dedupe_replace'
    when p_job ->> 'dedupe_for_ms' is not null and p_job -> 'dedupe_replace' = 'true'
      then 'dedupe_replace: got true beside dedupe_for_ms, takes one of the two'
  end;

-- Private: are these valid waits? NULL if there are none.
create or replace function "unstuck".are_steps(p_steps jsonb)
returns boolean language sql immutable
return case when nullif(p_steps, 'null') is null then null
            else jsonb_typeof(p_steps) = 'array' and jsonb_array_length(p_steps) between 1 and 100
                 and not jsonb_path_exists(p_steps, 'strict $[*] ? (!(@.type() == "number") || @ < 0 || @ > 31536000000
                                                                    || @ != @.floor())') end;

-- Private: has a job a valid type and nothing else but a payload, as most have? The rest need not be checked then.
create or replace function "unstuck".is_plain_job(p_job jsonb)
returns boolean language sql immutable
return jsonb_typeof(p_job) = 'object' and p_job - '{type,payload}'::text[] = '{}'
       and jsonb_typeof(p_job -> 'type') = 'string' and length(p_job ->> 'type') between 1 and 200;

-- Private: checks the arguments of enqueue_batch.
create or replace function "unstuck".require_jobs(p_shared jsonb, p_payloads jsonb, p_jobs jsonb)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_problem text;
begin
  -- OFFSET keeps an expression from being copied to where its value is used.
  select problem into v_problem
    from (select "unstuck".job_problem(job) as problem
            from (select case when jsonb_typeof(own) = 'object' then p_shared || own else own end as job
                    from jsonb_array_elements(case when p_jobs is null then '[{}]' else p_jobs end) own
                  offset 0) requested
          offset 0) checked
   where problem is not null limit 1;
  if v_problem is not null then
    raise exception using errcode = 'UN001', message = v_problem;
  end if;
  return true;
end
$$;
