-- Private: drops the objects of place_team_object and restores the team's own. An object that the team has replaced
-- since stays; a function that the team filled in takes the name of its wrapper.
create or replace function "unstuck".remove_team_objects(p_attachment text)
returns int language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_made "unstuck".team_objects;
  v_digest text;
  v_kept_digest text;
  v_count int := 0;
begin
  for v_made in select * from "unstuck".team_objects where attachment = p_attachment order by ordinal loop
    v_digest := "unstuck".team_object_digest(v_made.kind, "unstuck".team_object_identity(
      v_made.kind, v_made.table_schema, v_made.name, v_made.takes));
    if v_digest = v_made.digest then
      perform "unstuck".drop_team_object(v_made.kind, v_made.table_schema, v_made.name, v_made.takes);
      v_digest := null;
    end if;
    v_kept_digest := "unstuck".team_object_digest(v_made.kind, "unstuck".team_object_identity(
      v_made.kind, v_made.table_schema, v_made.kept_name, v_made.takes));
    if v_kept_digest is not null and (v_digest is not null or v_kept_digest = v_made.kept_digest) then
      perform "unstuck".drop_team_object(v_made.kind, v_made.table_schema, v_made.kept_name, v_made.takes);
    elsif v_kept_digest is not null then
      perform "unstuck".rename_team_object(
        v_made.kind, v_made.table_schema, v_made.kept_name, v_made.takes, v_made.name);
    end if;
    v_count := v_count + 1;
  end loop;
  delete from "unstuck".team_objects where attachment = p_attachment;
  return v_count;
end
$$;
