-- Tables that may hold jobs: with a column of jobs ($1, an expression over column names), named like those of known
-- queues ($2), of the shipped profiles ($3, schema.table), or with a column that few but known queues have ($4).
-- Partitions are counted through their parent.
select namespace.nspname::text as schema, relation.relname::text as table,
       has_schema_privilege(namespace.oid, 'usage') and has_table_privilege(relation.oid, 'select') as can_read,
       row_security_active(relation.oid) as is_filtered,
       (select coalesce(array_agg(attname::text order by array_position(indkey::int2[], attnum)), '{}') from pg_index
          join pg_attribute on attrelid = indrelid and attnum = any (indkey)
         where indrelid = relation.oid and indisprimary) as primary_key,
       (select coalesce(jsonb_object_agg(attname, jsonb_build_object(
                 'type', format_type(atttypid, null),
                 'words', (select jsonb_agg(enumlabel order by enumsortorder) from pg_enum where enumtypid = atttypid),
                 'hasIndex', exists (
                   select from pg_index join pg_class index on index.oid = indexrelid
                     join pg_am on pg_am.oid = index.relam join pg_opclass on pg_opclass.oid = indclass[0]
                    where indrelid = attrelid and indkey[0] = attnum and indcollation[0] = attcollation
                      and indisvalid and indpred is null and amname = 'btree' and opcdefault)
               )), '{}')
          from pg_attribute where attrelid = relation.oid and attnum > 0 and not attisdropped) as columns
  from pg_class relation join pg_namespace namespace on namespace.oid = relation.relnamespace
 where relation.relkind in ('r', 'p') and not relation.relispartition and relation.relpersistence <> 't'
   and namespace.nspname <> 'information_schema' and namespace.nspname !~ '^pg_'
   and (relation.relname ~ any ($2::text[]) or format('%s.%s', namespace.nspname, relation.relname) = any ($3::text[])
        or exists (select from pg_attribute
                    where attrelid = relation.oid and attnum > 0 and not attisdropped
                      and (attname ~* $1::text or attname = any ($4::text[]))))
 order by 1, 2
 limit $5
