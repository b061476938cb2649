-- Takes the engine out. Native jobs and their story are the application's data: they stay where there are any, unless
-- p_purge is asked for.
do $$
declare
  v_name text;
  v_keeps boolean := not /*purge*/false and exists (select from "unstuck"."jobs");
begin
  for v_name in
    select format('%s %s', case prokind when 'p' then 'procedure' else 'function' end, oid::regprocedure)
      from pg_proc where pronamespace = /*schema*/'unstuck'::regnamespace
  loop
    execute format('drop %s cascade', v_name);
  end loop;
  for v_name in
    select format('%I.%I', /*schema*/'unstuck', relname) from pg_class
     where relnamespace = /*schema*/'unstuck'::regnamespace and relkind = 'r'
       and not (v_keeps and relname in ('jobs', 'events'))
  loop
    execute format('drop table %s cascade', v_name);
  end loop;
  for v_name in
    select format('%s %I.%I', case typtype when 'd' then 'domain' else 'type' end, /*schema*/'unstuck', typname)
      from pg_type left join pg_class on pg_class.oid = typrelid
     where typnamespace = /*schema*/'unstuck'::regnamespace and (typtype = 'd' or relkind = 'c')
  loop
    execute format('drop %s cascade', v_name);
  end loop;
  if not v_keeps then
    drop schema "unstuck";
  end if;
end
$$;
