grant select, insert, update, delete on "unstuck"."jobs" to /*grantee*/unstuck_worker;
/*+team_events
grant select, insert on "team_events" to /*grantee*/unstuck_worker;
*/
-- The schema, the sequence of ids if there is one, and the functions and views that attach created. On PostgreSQL 14 a
-- view has the rights of its owner, so under row security this role does not get it.
do $$
declare
  v_role text := /*role*/'unstuck_worker';
  v_table oid := to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs'));
  v_object text;
begin
  execute format('grant usage on schema %I to %I', /*table_schema*/'unstuck', v_role);
  for v_object in
    select 'usage on sequence ' || pg_get_serial_sequence(v_table::regclass::text, attname) from pg_attribute
     where attrelid = v_table and attnum > 0 and not attisdropped
    union all
    select format(case kind when 'view' then 'select on table %I.%I' else 'execute on routine %I.%I(%s)' end,
                  table_schema, name, takes)
      from "unstuck".team_objects, pg_roles
     where attachment = /*attachment*/'native' and rolname = v_role and kind <> 'wrapper'
       and (kind <> 'view' or current_setting('server_version_num')::int >= 150000
            or not "unstuck".has_row_security(v_table, pg_roles.oid))
  loop
    if v_object is not null then
      execute format('grant %s to %I', v_object, v_role);
    end if;
  end loop;
end
$$;
-- If row security would hide rows from this role, a policy that shows all of them. Only BYPASSRLS overrides a
-- restrictive policy.
do $$
declare
  v_role text := /*role*/'unstuck_worker';
  v_oid oid := (select oid from pg_roles where rolname = v_role);
  v_table regclass;
begin
  for v_table in
    select pg_class.oid from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where (nspname = /*table_schema*/'unstuck' and relname = /*table*/'jobs'
            or nspname = /*events_schema*/'' and relname = /*events_table*/'')
       and exists (select from "unstuck".hidden_commands(pg_class.oid, v_oid))
  loop
    if not exists (select from pg_policy where polrelid = v_table and polname = v_role) then
      execute format('create policy %I on %s to %I using (true) with check (true)', v_role, v_table, v_role);
    end if;
    if exists (select from "unstuck".hidden_commands(v_table, v_oid)) then
      begin
        execute format('alter role %I bypassrls', v_role);
        raise notice 'role % has BYPASSRLS now: a restrictive policy hides rows of %', v_role, v_table;
      exception when insufficient_privilege then
        raise warning 'row security may still hide rows of % from role %; as a superuser: alter role % bypassrls',
          v_table, v_role, quote_ident(v_role);
      end;
    end if;
  end loop;
end
$$;
