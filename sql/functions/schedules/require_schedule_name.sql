-- Private: checks.
create or replace function "unstuck".require_schedule_name(p_name text)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return "unstuck".require(length(p_name) between 1 and 200, 'name', p_name, '1 to 200 characters');
end
$$;
