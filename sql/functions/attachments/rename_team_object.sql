-- Private: a new name keeps body, owner, grants and settings as they are.
create or replace function "unstuck".rename_team_object(
  p_kind text, p_schema text, p_name text, p_takes text, p_new_name text)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  execute format('alter %s %s rename to %I', case when p_kind = 'view' then 'view' else 'routine' end,
                 "unstuck".team_object_identity(p_kind, p_schema, p_name, p_takes), p_new_name);
  return true;
end
$$;
