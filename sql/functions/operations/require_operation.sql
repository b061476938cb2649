-- Private: checks the argument of begin_operation.
create or replace function "unstuck".require_operation(p_operation jsonb)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".require(jsonb_typeof(p_operation) = 'object', 'operation', p_operation::text, 'an object');
  perform "unstuck".require(
    p_operation ->> 'action' in ('retry', 'run-now', 'cancel', 'discard', 'redrive'), 'action',
    p_operation ->> 'action', 'retry, run-now, cancel, discard or redrive');
  perform "unstuck".require_job_filter(coalesce(p_operation -> 'filter', 'null'));
  perform "unstuck".require(length(p_operation ->> 'q') between 1 and 2000, 'q', p_operation ->> 'q',
                            '1 to 2000 characters');
  perform "unstuck".require(p_operation ->> 'as_of' is null or "unstuck".is_iso_time(p_operation ->> 'as_of'),
                            'as_of', p_operation ->> 'as_of', 'a time with its zone');
  perform "unstuck".require(length(p_operation ->> key) <= 500, key, p_operation ->> key, 'at most 500 characters')
     from unnest(array['actor', 'owner', 'reason']) key where p_operation ->> key is not null;
  perform "unstuck".require(jsonb_typeof(p_operation -> key) in ('boolean', 'null'), key, p_operation ->> key,
                            'true or false')
     from unnest(array['keep_attempts', 'is_plan']) key where p_operation ? key;
  perform "unstuck".require(
            case when jsonb_typeof(p_operation -> name) = 'number' then
              (p_operation ->> name)::numeric between least and most
              and (name = 'rate_per_s' or (p_operation ->> name)::numeric % 1 = 0) end,
            name, p_operation ->> name, format('a number from %s to %s', least, most))
     from (values ('canary', 0, 1000), ('rate_per_s', 0.01, 10000), ('max_jobs', 1, 100000), ('expect', 0, 2147483647),
                  ('lease_ms', 1, 31536000000), ('count_limit', 1, 1000000)) bounds(name, least, most)
    where jsonb_typeof(p_operation -> name) <> 'null';
  return true;
end
$$;
