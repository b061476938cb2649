-- Private: checks.
create or replace function "unstuck".require_limits(p_limits jsonb)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_bad jsonb;
begin
  perform "unstuck".require(jsonb_typeof(p_limits) = 'array', 'limits', p_limits::text, 'an array of limits');
  perform "unstuck".require(jsonb_array_length(p_limits) between 1 and 100, 'limits',
                            jsonb_array_length(p_limits)::text, '1 to 100 of them');
  select coalesce(asked -> 'key', asked) into v_bad from jsonb_array_elements(p_limits) asked
   where jsonb_typeof(asked -> 'key') is distinct from 'string' or length(asked ->> 'key') not between 1 and 500
   limit 1;
  perform "unstuck".require(v_bad is null, 'key', v_bad::text, '1 to 500 characters');
  select asked -> 'key' into v_bad from jsonb_array_elements(p_limits) asked
   group by asked -> 'key' having count(*) > 1 limit 1;
  perform "unstuck".require(v_bad is null, 'key', v_bad::text, 'each key once');
  select coalesce(asked -> 'rate_per_s', 'null') into v_bad from jsonb_array_elements(p_limits) asked
   where jsonb_typeof(asked -> 'rate_per_s') is distinct from 'number'
      or (asked ->> 'rate_per_s')::numeric not between 0.0001 and 1000000 limit 1;
  perform "unstuck".require(v_bad is null, 'rate_per_s', v_bad::text, 'tokens a second from 0.0001 to 1000000');
  select coalesce(asked -> 'burst', 'null') into v_bad from jsonb_array_elements(p_limits) asked
   where jsonb_typeof(asked -> 'burst') is distinct from 'number'
      or (asked ->> 'burst')::numeric not between 1 and 1000000
      or (asked ->> 'burst')::numeric <> trunc((asked ->> 'burst')::numeric) limit 1;
  return "unstuck".require(v_bad is null, 'burst', v_bad::text, 'a whole number from 1 to 1000000');
end
$$;
