-- Private: the types of a claim as keys, once its arguments have been checked.
create or replace function "unstuck".claim_types(
  p_worker_id text, p_queues text[], p_limit int, p_types text[], p_lease_ms bigint)
returns jsonb language sql stable
return case
    when "unstuck".require(length(p_worker_id) between 1 and 200, 'worker_id', p_worker_id, '1 to 200 characters')
      and "unstuck".require(coalesce(p_lease_ms, 1) between 1 and 31536000000, 'lease_ms', p_lease_ms::text,
                            'milliseconds from 1 to one year')
      and "unstuck".require_list(p_queues, 'queues', 'names of queues')
      and "unstuck".require_list(coalesce(p_types, '{}'), 'types', 'names of types')
      and "unstuck".require(p_limit between 1 and 10000, 'limit', p_limit::text, 'a whole number from 1 to 10000')
    then jsonb_object(p_types, p_types) end;

-- Private: checks the cursors of a claim in SQL. Not those of a worker, which would take as long as the claim.
create or replace function "unstuck".require_claim_cursors(p_cursors jsonb)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return "unstuck".require(
    p_cursors is null or jsonb_typeof(p_cursors) = 'object'
      and not jsonb_path_exists(p_cursors, '$.* ? (@.type() != "object")')
      and not exists (select from jsonb_path_query(p_cursors, '$.*.keyvalue()') entry
                       where entry ->> 'key' !~ '^-?[0-9]{1,9}$'
                          or "unstuck".is_iso_time(entry ->> 'value') is not true),
    'cursors', p_cursors::text, 'times by queue and priority, such as {"mail": {"0": "2026-01-31T12:00:00Z"}}');
end
$$;
