-- Revokes every attached table, and the objects that attach created beside it, from the API roles: PostgREST serves
-- whatever is in an exposed schema.
do $$
declare
  v_object text;
  v_right text;
begin
  for v_object, v_right in
    select format('table %I.%I', table_schema, table_name), 'select, insert, update, delete'
      from "unstuck".attachments where name <> 'native'
    union all
    select 'sequence ' || pg_get_serial_sequence(format('%I.%I', table_schema, table_name), attname), 'usage'
      from "unstuck".attachments join pg_attribute on attrelid = to_regclass(format('%I.%I', table_schema, table_name))
     where name <> 'native' and attnum > 0 and not attisdropped
  loop
    if v_object is not null then
      execute format('grant %s on %s to service_role', v_right, v_object);
    end if;
  end loop;
  for v_object, v_right in
    select format(case kind when 'view' then 'table %I.%I' else 'routine %I.%I(%s)' end, table_schema, made, takes),
           case kind when 'view' then 'select' else 'execute' end
      from "unstuck".team_objects,
           -- The function that a wrapper calls, while it is ours.
           pg_catalog.unnest(array[name, case when kept_digest is not null then kept_name end]) made
     where made is not null
  loop
    execute format('revoke all on %s from public, anon, authenticated', v_object);
    execute format('grant %s on %s to service_role', v_right, v_object);
  end loop;
end
$$;
