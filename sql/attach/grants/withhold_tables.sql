-- Revokes new tables ($1) and their sequences from everyone but the owner: default privileges may have granted them.
-- docs/guides/operate/database-roles.md grants them to the right roles.
do $$
declare
  v_given record;
begin
  for v_given in
    select distinct object.relkind, object.relname, held.grantee
      from pg_class object, aclexplode(object.relacl) held
     where object.relnamespace = to_regnamespace(/*schema*/'unstuck') and held.grantee <> object.relowner
       and (object.relkind = 'r' and object.relname = any ($1::text[])
            or object.relkind = 'S' and exists (
                 select from pg_depend join pg_class owning on owning.oid = refobjid
                  where classid = 'pg_class'::regclass and objid = object.oid and deptype in ('a', 'i')
                    and owning.relnamespace = object.relnamespace and owning.relname = any ($1::text[])))
  loop
    execute format('revoke all on %s %I.%I from %s cascade', case v_given.relkind when 'S' then 'sequence'
                   else 'table' end, /*schema*/'unstuck', v_given.relname,
                   case v_given.grantee when 0 then 'public' else v_given.grantee::regrole::text end);
  end loop;
end
$$;
