-- Private: gives a new function or view the owner, SECURITY and grantees of the one before it (p_former, from
-- team_object_rights), as far as the job table allows. PUBLIC gets nothing, nor does anyone with default privileges
-- who may not see or change every row: PostgREST serves whatever is in this schema. If PUBLIC had access, the grantees
-- of the table get it. A view shows the rows that the table shows; on PostgreSQL 14 a view has the rights of its
-- owner, so under row security nobody else gets it.
create or replace function "unstuck".keep_rights(p_table oid, p_kind text, p_identity text, p_former jsonb)
returns int language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_is_view boolean := p_kind = 'view';
  v_is_invoker boolean := v_is_view and current_setting('server_version_num')::int >= 150000;
  v_is_definer boolean := coalesce((p_former ->> 'is_definer')::boolean, false);
  v_on_table text := case when v_is_view then 'select' else 'update' end;
  v_user record;
  v_count int := 0;
begin
  if v_is_invoker then
    execute format('alter view %s set (security_invoker = true)', p_identity);
  elsif not v_is_view and p_former ? 'owner' then
    begin
      execute format('alter routine %s owner to %s', p_identity, (p_former ->> 'owner')::oid::regrole);
    exception when insufficient_privilege then
      -- With another owner a SECURITY DEFINER function would run with other rights.
      if v_is_definer then
        raise;
      end if;
    end;
  end if;
  if v_is_definer then
    execute format('alter routine %s security definer set search_path = pg_catalog, pg_temp', p_identity);
  end if;
  perform "unstuck".withhold(p_kind, p_identity);
  for v_user in
    with named as (
      select given.role, given.is_grantable,
             exists (select from pg_default_acl, aclexplode(defaclacl) held
                      where defaclobjtype = case when v_is_view then 'r' else 'f' end
                        and defaclnamespace in (0, relation.relnamespace) and held.grantee = given.role) as is_default
        from pg_class relation, jsonb_to_recordset(p_former -> 'grants') given(role oid, is_grantable boolean)
       where relation.oid = p_table
      union
      select held.grantee, false, true from pg_class relation, aclexplode(relation.relacl) held
       where relation.oid = p_table and lower(held.privilege_type) = v_on_table
         and p_former -> 'grants' @> '[{"role": 0}]'
      union
      select relowner, false, false from pg_class where oid = p_table
    )
    select named.role, bool_or(named.is_grantable) as is_grantable
      from named join pg_roles on pg_roles.oid = named.role
     where (not named.is_default
            or has_table_privilege(named.role, p_table, v_on_table)
               and not exists (select from "unstuck".hidden_commands(p_table, named.role) hidden
                                where hidden.command in ('select', 'update')))
       and (not v_is_view or v_is_invoker or not "unstuck".has_row_security(p_table, named.role))
     group by named.role order by named.role
  loop
    execute format('grant %s on %s %s to %s%s', case when v_is_view then 'select' else 'execute' end,
                   case when v_is_view then 'table' else 'routine' end, p_identity, v_user.role::regrole,
                   case when v_user.is_grantable then ' with grant option' end);
    if not v_is_view and not v_is_definer then
      -- Callers read the mode of the table first. That table shows no jobs.
      execute format('grant usage on schema %1$I to %2$s; grant select on %1$I.policies to %2$s', /*schema*/'unstuck',
                     v_user.role::regrole);
    end if;
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;

-- Private: revokes a function or view from everyone but its owner: from PUBLIC, and from grantees of default
-- privileges.
create or replace function "unstuck".withhold(p_kind text, p_identity text)
returns int language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_grantee oid;
  v_count int := 0;
begin
  for v_grantee in
    select distinct held.grantee
      from (select proowner as owner, coalesce(proacl, acldefault('f', proowner)) as acl from pg_proc
             where p_kind <> 'view' and oid = to_regprocedure(p_identity)
            union all
            select relowner, coalesce(relacl, acldefault('r', relowner)) from pg_class
             where p_kind = 'view' and oid = to_regclass(p_identity)) object,
           aclexplode(object.acl) held
     where held.grantee <> object.owner
  loop
    execute format('revoke all on %s %s from %s cascade', case when p_kind = 'view' then 'table' else 'routine' end,
                   p_identity, case v_grantee when 0 then 'public' else v_grantee::regrole::text end);
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;
