-- Private: takes a function or view from everyone but its owner: from PUBLIC, and from those that default privileges
-- have given it to by name.
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
