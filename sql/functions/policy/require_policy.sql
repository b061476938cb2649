-- Private: refuses an override by its first invalid key, with the values that its column takes. Called only for an
-- invalid one, because it tries key by key.
create or replace function "unstuck".require_policy(p_policy "unstuck".policies, p_override jsonb)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_known jsonb := to_jsonb(p_policy);
  v_given record;
  v_takes text;
begin
  for v_given in select key, value, jsonb_typeof(value) as kind from jsonb_each(p_override) loop
    perform "unstuck".require(v_known ? v_given.key, 'policy', v_given.key, 'the column names of the policies table');
    select coalesce(col_description(attrelid, attnum), obj_description(atttypid, 'pg_type'),
                    format_type(atttypid, atttypmod))
      into v_takes
      from pg_type join pg_attribute on attrelid = typrelid
     where pg_type.oid = pg_typeof(p_policy) and attname = v_given.key;
    perform "unstuck".require(
      case v_given.key when 'default_stage' then v_given.kind in ('string', 'null')
                       else v_given.kind = jsonb_typeof(v_known -> v_given.key) end,
      v_given.key, v_given.value::text, v_takes);
    begin
      perform jsonb_populate_record(p_policy, jsonb_build_object(v_given.key, v_given.value));
    exception when data_exception or integrity_constraint_violation then
      perform "unstuck".require(false, v_given.key, v_given.value::text, v_takes);
    end;
  end loop;
  return true;
end
$$;
