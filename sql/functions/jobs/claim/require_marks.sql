-- Private: checks.
create or replace function "unstuck".require_marks(p_marks jsonb)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return "unstuck".require(
    p_marks is null or jsonb_typeof(p_marks) = 'object'
      and not jsonb_path_exists(p_marks, '$.* ? (@.type() != "object")')
      and not exists (select from jsonb_path_query(p_marks, '$.*.keyvalue()') mark
                       where mark ->> 'key' !~ '^-?[0-9]{1,9}$' or "unstuck".is_iso_time(mark ->> 'value') is not true),
    'marks', p_marks::text, 'times by queue and priority, such as {"mail": {"0": "2026-01-31T12:00:00Z"}}');
end
$$;
