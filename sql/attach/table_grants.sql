grant select, insert, update, delete on "unstuck"."jobs" to unstuck_worker;
/*+team_events
grant select, insert on "team_events" to unstuck_worker;
*/
-- Its schema, and the sequence that its ids come from, if there is one.
do $$
declare
  v_table text := format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs');
  v_sequence text;
begin
  execute format('grant usage on schema %I to unstuck_worker', /*table_schema*/'unstuck');
  for v_sequence in
    select pg_get_serial_sequence(v_table, attname) from pg_attribute
     where attrelid = v_table::regclass and attnum > 0 and not attisdropped
  loop
    if v_sequence is not null then
      execute format('grant usage on sequence %s to unstuck_worker', v_sequence);
    end if;
  end loop;
end
$$;
