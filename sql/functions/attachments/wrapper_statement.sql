-- Private: a function that calls another one first, then the function that had its name before; a failure of the first
-- becomes a warning. The wrapper of a SECURITY DEFINER function is SECURITY DEFINER too, with a search_path of its own
-- (C20). The team's body runs with the search_path of the session unless it sets another.
create or replace function "unstuck".wrapper_statement(p_schema text, p_name text, p_calls text, p_kept_name text)
returns text language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_kept pg_proc;
  v_goes_on text;
  v_path text := '';
begin
  select * into strict v_kept from pg_proc where oid = to_regprocedure(format('%I.%I()', p_schema, p_kept_name));
  perform "unstuck".require(v_kept.prokind = 'f' and v_kept.proargmodes is null, 'wrapper', p_name,
                            'a function without OUT arguments');
  v_goes_on := case when v_kept.proretset then 'return query select * from'
                    when v_kept.prorettype = 'void'::regtype then 'perform'
                    else 'return' end;
  if v_kept.prosecdef and not exists (select from unnest(v_kept.proconfig) setting where setting ~ '^search_path=') then
    v_path := E'perform pg_catalog.set_config(name, reset_val, true) from pg_catalog.pg_settings'
              || E' where name = ''search_path'';\n  ';
  end if;
  return format('create or replace function %I.%I() returns %s language plpgsql as %L', p_schema, p_name,
    pg_get_function_result(v_kept.oid), format('
begin
  begin
    perform %1$I.%2$I();
  exception when others then
    raise warning ''%4$s goes on without %2$s: %%'', sqlerrm;
  end;
  %6$s%5$s %1$I.%3$I();
end
', p_schema, p_calls, p_kept_name, p_name, v_goes_on, v_path));
end
$$;
