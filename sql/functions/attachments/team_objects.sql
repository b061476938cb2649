-- Private: the name of a team's function or view as ALTER and DROP take it.
create or replace function "unstuck".team_object_identity(p_kind text, p_schema text, p_name text, p_takes text)
returns text language sql immutable strict
return case when p_kind = 'view' then format('%I.%I', p_schema, p_name)
              else format('%I.%I(%s)', p_schema, p_name, p_takes) end;

-- Private: digest of the body of a team's function or view; NULL if it does not exist. PostgreSQL prints a view by the
-- search_path, so that is fixed. Operands are exact.
create or replace function "unstuck".team_object_digest(p_kind text, p_identity text)
returns text language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when p_kind = 'view'
              then (select md5(coalesce(pg_get_viewdef(oid), '')) from pg_class
                     where oid = to_regclass(p_identity)::oid)
              else (select md5(prosrc) from pg_proc where oid = to_regprocedure(p_identity)::oid) end
$$;

-- Private: { owner, is_definer, grants } of a function or view; NULL if it does not exist. Roles are oids, 0 is
-- PUBLIC.
create or replace function "unstuck".team_object_rights(p_kind text, p_identity text)
returns jsonb language sql stable set search_path = pg_catalog, pg_temp as $$
  select jsonb_build_object(
           'owner', object.owner::bigint, 'is_definer', object.is_definer,
           'grants', (select coalesce(jsonb_agg(jsonb_build_object('role', held.grantee::bigint, 'is_grantable',
                                                                   held.is_grantable) order by held.grantee), '[]')
                        from aclexplode(object.acl) held
                       where held.privilege_type in ('EXECUTE', 'SELECT') and held.grantee <> object.owner))
    from (select proowner as owner, prosecdef as is_definer, coalesce(proacl, acldefault('f', proowner)) as acl
            from pg_proc where p_kind <> 'view' and oid = to_regprocedure(p_identity)
          union all
          select relowner, false, coalesce(relacl, acldefault('r', relowner))
            from pg_class where p_kind = 'view' and oid = to_regclass(p_identity)) object
$$;

-- Private: a rename keeps body, owner, grants and settings.
create or replace function "unstuck".rename_team_object(
  p_kind text, p_schema text, p_name text, p_takes text, p_new_name text)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  execute format('alter %s %s rename to %I', case when p_kind = 'view' then 'view' else 'routine' end,
                 "unstuck".team_object_identity(p_kind, p_schema, p_name, p_takes), p_new_name);
  return true;
end
$$;

-- Private: without CASCADE, because dependent objects belong to the team.
create or replace function "unstuck".drop_team_object(p_kind text, p_schema text, p_name text, p_takes text)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  execute format('drop %s if exists %s', case when p_kind = 'view' then 'view' else 'routine' end,
                 "unstuck".team_object_identity(p_kind, p_schema, p_name, p_takes));
  return true;
end
$$;
