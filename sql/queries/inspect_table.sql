select relation.relkind::text as kind, relation.relpersistence = 'u' as is_unlogged,
       (select coalesce(jsonb_object_agg(attname, jsonb_build_object(
                 'type', format_type(atttypid, null),
                 'enum_name', case when typtype = 'e' then format('%I.%I', nspname, typname) end,
                 'is_generated', attgenerated <> '')), '{}')
          from pg_attribute join pg_type on pg_type.oid = atttypid join pg_namespace on pg_namespace.oid = typnamespace
         where attrelid = relation.oid and attnum > 0 and not attisdropped) as columns,
       (select array_agg(attname::text order by attnum) from pg_index
          join pg_attribute on attrelid = indrelid and attnum = any (indkey)
         where indrelid = relation.oid and indisprimary) as primary_key,
       (select pg_get_partkeydef(relation.oid)) as partition_key,
       (select coalesce(jsonb_object_agg(index.relname, indisvalid), '{}') from pg_index
          join pg_class index on index.oid = indexrelid where indrelid = relation.oid) as indexes
  from pg_class relation
 where relation.oid = to_regclass(format('%I.%I', $1::text, $2::text))
