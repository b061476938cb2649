-- Private: what is wrong with a failure as it is reported; NULL where nothing is. One expression, inlined as
-- job_problem is.
create or replace function "unstuck".failure_problem(p_failure jsonb, p_id_type text)
returns text language sql stable
return case
    when p_failure ->> 'id' is null or p_failure ->> 'lease_id' is null
      then 'failure: got no id or no lease_id, takes both'
    when p_failure - '{id,lease_id,code,reason,category,stack,is_retryable,retry_in_ms,cause}'::text[] <> '{}'
      then format('failure: got %s, takes id, lease_id, code, reason, category, stack, is_retryable, retry_in_ms and '
                  'cause', left(jsonb_path_query_first(
        p_failure - '{id,lease_id,code,reason,category,stack,is_retryable,retry_in_ms,cause}'::text[],
        '$.keyvalue()') ->> 'key', 60))
    when not "unstuck".is_id(p_failure ->> 'id', p_id_type)
      then format('id: got %s, takes the id of a job, a %s', left((p_failure -> 'id')::text, 60), p_id_type)
    when not "unstuck".is_id(p_failure ->> 'lease_id', 'uuid')
      then format('lease_id: got %s, takes a uuid', left((p_failure -> 'lease_id')::text, 60))
    -- By that word a job that was cancelled is known, and is never retried.
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
    when p_failure ->> 'cause' not in ('failure', 'timeout')
      then format('cause: got %s, takes failure or timeout', left((p_failure -> 'cause')::text, 60))
  end;
