create or replace function "unstuck".require_failures(p_failures jsonb)
returns boolean language plpgsql immutable as $$
declare
  v_bad jsonb;
begin
  perform "unstuck".require(jsonb_typeof(p_failures) = 'array', 'failures', p_failures::text, 'an array of failures');
  select failure into v_bad from jsonb_array_elements(p_failures) failure
   where failure ->> 'id' is null or failure ->> 'lease_id' is null limit 1;
  perform "unstuck".require(v_bad is null, 'failure', 'no id or no lease_id', 'both');
  select failure -> 'category' into v_bad from jsonb_array_elements(p_failures) failure
   where failure ->> 'category' not in ('TRANSIENT', 'PERMANENT', 'CRITICAL') limit 1;
  perform "unstuck".require(v_bad is null, 'category', v_bad::text, 'TRANSIENT, PERMANENT or CRITICAL');
  select failure -> 'cause' into v_bad from jsonb_array_elements(p_failures) failure
   where failure ->> 'cause' not in ('failure', 'timeout') limit 1;
  perform "unstuck".require(v_bad is null, 'cause', v_bad::text, 'failure or timeout');
  select failure -> 'retry_in_ms' into v_bad from jsonb_array_elements(p_failures) failure
   where failure ->> 'retry_in_ms' is not null
     and (jsonb_typeof(failure -> 'retry_in_ms') <> 'number'
          or (failure ->> 'retry_in_ms')::numeric not between 0 and 31536000000) limit 1;
  return "unstuck".require(v_bad is null, 'retry_in_ms', v_bad::text, 'milliseconds from 0 to one year');
end
$$;
