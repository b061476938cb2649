-- Private: refuses to change a row of a table in mode observe (OPS-14). Verbs on the hot path check is_observed of
-- their policy first.
create or replace function "unstuck".require_acting(p_attachment text)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_attached "unstuck".attachments;
begin
  select * into v_attached from "unstuck".attachments where name = p_attachment and mode = 'observe';
  if found then
    raise exception using
      errcode = 'UN005',
      -- With the remedy, because HTTP clients do not see hints.
      message = format('%1$s.%2$s is in mode observe: unstuck changes none of its rows. To let it act: '
                       'unstuck mode reap --table %2$s', v_attached.table_schema, v_attached.table_name);
  end if;
  return true;
end
$$;
