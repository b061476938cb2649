-- Takes what attach added off a team's table, and nothing else: its rows and its own columns stay.
create or replace function "unstuck".detach_table(p_attachment text)
returns boolean language plpgsql as $$
declare
  v_table "unstuck".attachments;
  v_name text;
begin
  select * into v_table from "unstuck".attachments where name = p_attachment;
  if not found then
    return false;
  end if;
  foreach v_name in array v_table.added_indexes loop
    execute format('drop index if exists %I.%I', v_table.table_schema, v_name);
  end loop;
  foreach v_name in array v_table.added_columns loop
    execute format('alter table %I.%I drop column if exists %I', v_table.table_schema, v_table.table_name, v_name);
  end loop;
  delete from "unstuck".attachments where name = p_attachment;
  return true;
end
$$;
