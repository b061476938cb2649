-- Private: removes the columns, indexes and functions that attach added to a table, and nothing else. Rows and the
-- team's own columns stay; objects of the team that depend on ours make it fail. Finds a renamed table.
create or replace function "unstuck".detach_table(p_attachment text)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_attached "unstuck".attachments;
  v_schema oid := (select relnamespace from pg_class where oid = (
                     select tableoid from "unstuck".attachments where name = p_attachment));
  v_table regclass;
  v_names text;
begin
  select * into v_attached from "unstuck".attachments where name = p_attachment;
  if not found then
    return false;
  end if;
  v_table := coalesce(to_regclass(format('%I.%I', v_attached.table_schema, v_attached.table_name)),
                      (select oid::regclass from pg_class where oid = v_attached.table_oid and relkind in ('r', 'p')));

  -- First, because they depend on what is dropped next.
  perform "unstuck".unschedule_sweeps(p_attachment);
  perform "unstuck".remove_team_objects(p_attachment);
  if exists (select from pg_trigger where tgrelid = v_table and tgname = 'unstuck_fence') then
    execute format('drop trigger unstuck_fence on %s', v_table);
  end if;
  select string_agg(indexrelid::regclass::text, ', ') into v_names
    from pg_index join pg_class on pg_class.oid = indexrelid
   where indrelid = v_table and relname = any (v_attached.added_indexes)
      -- On a partition, not yet attached to the index of the parent.
      or indrelid in (select inhrelid from pg_inherits where inhparent = v_table)
     and relname = any (array(select name || '_p' || indrelid from unnest(v_attached.added_indexes) name));
  if v_names is not null then
    execute format('drop index %s', v_names);
  end if;
  select string_agg(format('drop column %I', attname), ', ') into v_names from pg_attribute
   where attrelid = v_table and attname = any (v_attached.added_columns) and attnum > 0 and not attisdropped;
  if v_names is not null then
    execute format('alter table %s %s', v_table, v_names);
  end if;
  select string_agg(oid::regprocedure::text, ', ') into v_names from pg_proc
   where pronamespace = v_schema and proname = any (v_attached.functions);
  if v_names is not null then
    execute format('drop routine %s', v_names);
  end if;
  delete from "unstuck".dispatches where attachment = p_attachment;
  delete from "unstuck".deliveries where attachment = p_attachment;
  delete from "unstuck".attachments where name = p_attachment;
  return true;
end
$$;
