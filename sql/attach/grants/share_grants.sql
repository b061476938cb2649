-- Grants the tables $1 to the roles that may use table $2.
do $$
declare
  v_grant record;
begin
  for v_grant in
    select case acl.grantee when 0 then 'public' else acl.grantee::regrole::text end as grantee, acl.privilege_type,
           shared.name as table_name
      from pg_class, aclexplode(relacl) acl, unnest($1::text[]) shared(name)
     where pg_class.oid = to_regclass(format('%I.%I', /*schema*/'unstuck', $2)) and acl.grantee <> relowner
       and acl.privilege_type in ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
  loop
    execute format('grant %s on %I.%I to %s', v_grant.privilege_type, /*schema*/'unstuck', v_grant.table_name,
                   v_grant.grantee);
  end loop;
end
$$;
