-- A failed concurrent build leaves an invalid index on its partition, which `if not exists` would accept.
do $$
declare
  v_index text;
begin
  for v_index in
    select format('%I.%I', nspname, relname) from pg_index
      join pg_class on pg_class.oid = indexrelid join pg_namespace on pg_namespace.oid = relnamespace
     where not indisvalid and nspname = $1 and relname = any ($2::text[])
  loop
    execute format('drop index %s', v_index);
  end loop;
end
$$;
