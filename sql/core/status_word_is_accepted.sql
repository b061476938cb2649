-- Would a table take this word in its status column? Asks the column's own type and CHECK constraints.
create or replace function "unstuck".status_word_is_accepted(p_table regclass, p_column text, p_word text)
returns boolean language plpgsql as $$
declare
  v_type text := (select format_type(atttypid, atttypmod) from pg_attribute
                   where attrelid = p_table and attname = p_column);
  v_check text;
  v_accepted boolean;
begin
  for v_check in
    select pg_get_expr(conbin, conrelid) from pg_constraint
     where conrelid = p_table and contype = 'c'
       and conkey = (select array[attnum] from pg_attribute where attrelid = p_table and attname = p_column)
  loop
    execute format('select (%s) from (select %L::%s as %I) word', v_check, p_word, v_type, p_column) into v_accepted;
    if v_accepted is false then
      return false;
    end if;
  end loop;
  execute format('select %L::%s is not null', p_word, v_type) into v_accepted;
  return v_accepted;
exception when invalid_text_representation then
  return false;
end
$$;
