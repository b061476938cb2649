-- Private: the failures a worker reports, in the order given and with what it left out filled in.
create or replace function "unstuck"."asked_failures"(p_failures jsonb)
returns table (ordinal bigint, id /*id*/uuid, lease_id uuid, code text, reason text, category text, stack text,
               is_retryable boolean, retry_in_ms float8, is_timeout boolean, is_passing boolean)
language sql stable
begin atomic
  select asked.ordinality, asked.id, asked.lease_id, coalesce(asked.code, 'UNKNOWN'), asked.reason,
         coalesce(asked.category, 'TRANSIENT'), asked.stack, coalesce(asked.is_retryable, true),
         round(asked.retry_in_ms, 3)::float8, coalesce(asked.cause = 'timeout', false),
         coalesce(asked.is_retryable, true) and coalesce(asked.category, 'TRANSIENT') = 'TRANSIENT'
           and asked.cause is distinct from 'timeout'
    from rows from (jsonb_to_recordset(p_failures) as (
           id /*id*/uuid, lease_id uuid, code text, reason text, category text, stack text, is_retryable boolean,
           retry_in_ms numeric, cause text)) with ordinality asked;
end;
