-- Claims and sweeps write kept_workers: roles that run workers already must not wait for somebody to grant it. They are
-- those that may write pauses, which claims read too.
do $$
declare
  v_held record;
begin
  for v_held in
    select held.grantee::regrole::text as role, string_agg(held.privilege_type, ', ') as privileges
      from pg_class pauses, aclexplode(pauses.relacl) held
     where pauses.oid = to_regclass(format('%I.pauses', /*schema*/'unstuck')) and held.grantee <> pauses.relowner
       and held.grantee <> 0 and held.privilege_type in ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
     group by held.grantee
  loop
    execute format('grant %s on %I.kept_workers to %s', v_held.privileges, /*schema*/'unstuck', v_held.role);
  end loop;
end
$$;
