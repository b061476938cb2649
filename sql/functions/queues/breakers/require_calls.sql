-- Private: checks.
create or replace function "unstuck".require_calls(p_calls jsonb)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_bad jsonb;
begin
  perform "unstuck".require(jsonb_typeof(p_calls) = 'array', 'calls', p_calls::text, 'an array of calls');
  perform "unstuck".require(jsonb_array_length(p_calls) <= 10000, 'calls', jsonb_array_length(p_calls)::text,
                            'at most 10000 of them');
  select call into v_bad from jsonb_array_elements(p_calls) call
   where case when call ? 'is_failure' then jsonb_typeof(call -> 'is_failure') is distinct from 'boolean'
              else jsonb_typeof(call -> 'job_id') is distinct from 'string' end
      or coalesce(jsonb_typeof(call -> 'job_id'), 'null') not in ('string', 'null') limit 1;
  perform "unstuck".require(v_bad is null, 'call', v_bad::text,
                            'an object with is_failure, true or false, or with a job_id alone');
  select call -> 'limited_ms' into v_bad from jsonb_array_elements(p_calls) call
   where case jsonb_typeof(call -> 'limited_ms') when 'null' then false
              when 'number' then (call ->> 'limited_ms')::numeric not between 0 and 31536000000
              else call ? 'limited_ms' end limit 1;
  return "unstuck".require(v_bad is null, 'limited_ms', v_bad::text, 'milliseconds from 0 to one year');
end
$$;
