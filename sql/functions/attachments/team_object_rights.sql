-- Private: whose a function or view is, with whose rights it runs, and who may use it: { owner, is_definer, grants }.
-- Roles are oids, 0 is PUBLIC. NULL where there is none of this name.
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
