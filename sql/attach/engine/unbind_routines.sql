-- A bound body depends on the functions and columns it uses, so PostgreSQL would refuse to drop those or change their
-- types. Routines in $1 with such a body lose it first; the same transaction recreates them.
do $$
declare
  v_statement text;
begin
  /*+distributed
  -- Citus takes a table for dependent on the bound bodies that use its columns, and replaces none of these.
  select string_agg(oid::regprocedure::text, ', ') into v_statement from pg_proc
   where pronamespace = to_regnamespace(/*schema*/'unstuck') and proname = any ($1::text[]) and prosqlbody is not null;
  if v_statement is not null then
    execute 'drop routine ' || v_statement;
  end if;
  return;
  */
  perform set_config('check_function_bodies', 'off', true);
  for v_statement in
    select replace(pg_get_functiondef(oid), pg_get_function_sqlbody(oid), 'as ''''')
      from pg_proc
     where pronamespace = to_regnamespace(/*schema*/'unstuck') and proname = any ($1::text[]) and prosqlbody is not null
  loop
    execute v_statement;
  end loop;
  perform set_config('check_function_bodies', 'on', true);
end
$$;
