-- Private: creates a function or view under a name that the team's own SQL calls. An existing object of that name is
-- renamed, and restored by detach_table; a wrapper calls it, or an empty function for the team to fill in. The new
-- object gets its owner and SECURITY, and the grantees that keep_rights allows. p_object: { kind, name, takes, calls,
-- phase, ordinal }. p_statement creates it; a wrapper is built from the function it wraps.
create or replace function "unstuck".place_team_object(p_attachment text, p_object jsonb, p_statement text default null)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_schema text := (select table_schema from "unstuck".attachments where name = p_attachment);
  v_table oid := (select to_regclass(format('%I.%I', table_schema, table_name)) from "unstuck".attachments
                   where name = p_attachment);
  v_kind text := p_object ->> 'kind';
  v_name text := p_object ->> 'name';
  v_takes text := coalesce(p_object ->> 'takes', '');
  v_identity text := "unstuck".team_object_identity(v_kind, v_schema, v_name, v_takes);
  v_digest text := "unstuck".team_object_digest(v_kind, v_identity);
  v_kept_name text := v_name || case v_kind when 'wrapper' then '__after_' || (p_object ->> 'calls')
                                            else '__before_unstuck' end;
  v_rights jsonb := "unstuck".team_object_rights(v_kind, v_identity);
  v_made "unstuck".team_objects;
  v_kept_identity text;
  v_is_empty boolean;
begin
  select * into v_made from "unstuck".team_objects where attachment = p_attachment and name = v_name;
  if v_digest is distinct from v_made.digest and v_digest is not null then
    -- The team's own: from before the attach, or a replacement of ours, which makes the kept one outdated.
    if v_made.kept_name is not null then
      perform "unstuck".drop_team_object(v_kind, v_schema, v_made.kept_name, v_takes);
    end if;
    perform "unstuck".rename_team_object(v_kind, v_schema, v_name, v_takes, v_kept_name);
    v_made.kept_name := v_kept_name;
    v_made.kept_digest := null;
  end if;
  if v_kind = 'wrapper' then
    if to_regprocedure("unstuck".team_object_identity(v_kind, v_schema, v_made.kept_name, '')) is null then
      v_made.kept_name := v_kept_name;
      execute format('create function %I.%I() returns void language plpgsql as %L', v_schema, v_kept_name,
                     E'\nbegin\n  -- Fill in what is to happen after the reclaim.\nend\n');
      v_made.kept_digest := "unstuck".team_object_digest(v_kind, format('%I.%I()', v_schema, v_kept_name));
    end if;
    p_statement := "unstuck".wrapper_statement(v_schema, v_name, p_object ->> 'calls', v_made.kept_name);
  end if;
  v_kept_identity := "unstuck".team_object_identity(v_kind, v_schema, v_made.kept_name, v_takes);
  v_is_empty := coalesce(v_made.kept_digest = "unstuck".team_object_digest(v_kind, v_kept_identity), false);
  if v_is_empty then
    perform "unstuck".keep_rights(v_table, v_kind, v_kept_identity, v_rights || '{"is_definer": false}');
  else
    -- Owner and SECURITY of the team's own object win.
    v_rights := coalesce(v_rights, '{}')
                || coalesce("unstuck".team_object_rights(v_kind, v_kept_identity) - 'grants', '{}');
  end if;
  begin
    execute p_statement;
  exception when invalid_function_definition or invalid_table_definition then
    -- Ours, with the columns of another version.
    perform "unstuck".drop_team_object(v_kind, v_schema, v_name, v_takes);
    execute p_statement;
  end;
  perform "unstuck".keep_rights(v_table, v_kind, v_identity, v_rights);
  insert into "unstuck".team_objects
    (attachment, table_schema, name, kind, takes, phase, ordinal, digest, kept_name, kept_digest)
  values (p_attachment, v_schema, v_name, v_kind, v_takes, (p_object ->> 'phase')::int, (p_object ->> 'ordinal')::int,
          "unstuck".team_object_digest(v_kind, v_identity), v_made.kept_name, v_made.kept_digest)
  on conflict (attachment, name) do update
     set table_schema = excluded.table_schema, kind = excluded.kind, takes = excluded.takes, phase = excluded.phase,
         ordinal = excluded.ordinal, digest = excluded.digest, kept_name = excluded.kept_name,
         kept_digest = excluded.kept_digest;
  return true;
end
$$;
