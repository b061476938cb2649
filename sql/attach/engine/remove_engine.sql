-- Drops the routines ($1), tables ($2) and types ($3) of an install, by name. Never CASCADE, and the schema only if it
-- is empty. Native jobs and their events are application data: they stay unless a purge is requested.
do $$
declare
  v_schema oid := to_regnamespace(/*schema*/'unstuck');
  v_keeps boolean := false;
  v_names text;
begin
  if not /*purge*/false and to_regclass(format('%I.jobs', /*schema*/'unstuck')) is not null then
    v_keeps := exists (select from "unstuck"."jobs");
  end if;
  if exists (select from pg_trigger where tgname = 'unstuck_fence'
                and tgrelid = to_regclass(format('%I.jobs', /*schema*/'unstuck'))) then
    drop trigger unstuck_fence on "unstuck"."jobs";
  end if;
  select string_agg(oid::regprocedure::text, ', ') into v_names from pg_proc
   where pronamespace = v_schema and proname = any ($1::text[]);
  if v_names is not null then
    execute 'drop routine ' || v_names;
  end if;
  if v_keeps then
    delete from "unstuck".events where attachment <> 'native';
  end if;
  select string_agg(oid::regclass::text, ', ') into v_names from pg_class
   where relnamespace = v_schema and relkind = 'r' and relname = any ($2::text[])
     and not (v_keeps and relname in ('jobs', 'events'));
  if v_names is not null then
    execute 'drop table ' || v_names;
  end if;
  select string_agg(pg_type.oid::regtype::text, ', ') into v_names
    from pg_type left join pg_class on pg_class.oid = typrelid
   where typnamespace = v_schema and typname = any ($3::text[]) and (typtype in ('d', 'e') or relkind = 'c');
  if v_names is not null then
    execute 'drop type ' || v_names;
  end if;
  begin
    drop schema "unstuck";
  exception when dependent_objects_still_exist or insufficient_privilege then
    null; -- Not empty, or not ours.
  end;
end
$$;
