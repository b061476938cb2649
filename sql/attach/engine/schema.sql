-- An existing schema of the team is left as it is. A new one is revoked from all grantees of default privileges.
do $$
declare
  v_grantee oid;
begin
  if to_regnamespace(/*schema*/'unstuck') is null then
    create schema "unstuck";
    for v_grantee in
      select distinct grantee from pg_namespace, aclexplode(nspacl)
       where pg_namespace.oid = to_regnamespace(/*schema*/'unstuck') and grantee <> nspowner
    loop
      execute format('revoke all on schema %I from %s', /*schema*/'unstuck',
                     case v_grantee when 0 then 'public' else v_grantee::regrole::text end);
    end loop;
  end if;
end
$$;
create table if not exists "unstuck".migrations (
  name       text primary key,
  applied_at timestamptz not null default now()
);
