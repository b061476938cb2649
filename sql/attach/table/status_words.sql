-- Finds words in $2 that the status column $1 refuses, by its type and CHECK constraints. A word must come back
-- unchanged: a cast to a shorter type truncates silently. The result is left in a setting.
do $$
declare
  v_table regclass := to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs'));
  v_type text := (select format_type(atttypid, atttypmod) from pg_attribute where attrelid = v_table and attname = $1);
  v_checks text[] := array(
    select pg_get_expr(conbin, conrelid) from pg_constraint
     where conrelid = v_table and contype = 'c'
       and conkey = (select array[attnum] from pg_attribute where attrelid = v_table and attname = $1));
  v_refused text[] := '{}';
  v_word text;
  v_check text;
  v_taken boolean;
begin
  foreach v_word in array $2::text[] loop
    begin
      execute format('select (%L::%s)::text = %1$L', v_word, v_type) into v_taken;
      foreach v_check in array v_checks loop
        exit when not v_taken;
        execute format('select (%s) is not false from (select %L::%s as %I) word', v_check, v_word, v_type, $1)
          into v_taken;
      end loop;
    exception when data_exception or check_violation or cannot_coerce then
      v_taken := false;
    end;
    if not v_taken then
      v_refused := v_refused || v_word;
    end if;
  end loop;
  perform set_config('unstuck.refused_words', v_refused::text, false);
end
$$;
