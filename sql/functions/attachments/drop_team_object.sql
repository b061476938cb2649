-- Private: without CASCADE, for what the team built upon it is not ours to drop.
create or replace function "unstuck".drop_team_object(p_kind text, p_schema text, p_name text, p_takes text)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  execute format('drop %s if exists %s', case when p_kind = 'view' then 'view' else 'routine' end,
                 "unstuck".team_object_identity(p_kind, p_schema, p_name, p_takes));
  return true;
end
$$;
