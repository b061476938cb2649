-- Tables named $2, in the schema $1 or in any, as input for a profile. A CHECK that lists words is read as PostgreSQL
-- prints it.
select namespace.nspname::text as schema, relation.relname::text as table, relation.relkind::text as kind,
       (select coalesce(array_agg(attname::text order by array_position(indkey::int2[], attnum)), '{}') from pg_index
          join pg_attribute on attrelid = indrelid and attnum = any (indkey)
         where indrelid = relation.oid and indisprimary) as primary_key,
       (select coalesce(array_agg(attname::text), '{}') from pg_partitioned_table
          join pg_attribute on attrelid = partrelid and attnum = any (partattrs)
         where partrelid = relation.oid) as partition_columns,
       (select coalesce(json_object_agg(attname, json_build_object(
                 'type', format_type(coalesce(nullif(typbasetype, 0), atttypid), null),
                 'isNullable', not attnotnull, 'isGenerated', attgenerated <> '',
                 'words', coalesce(
                   (select json_agg(enumlabel order by enumsortorder) from pg_enum where enumtypid = atttypid),
                   (select json_agg(replace(word[1], '''''', '''')) from pg_constraint,
                           regexp_matches(pg_get_expr(conbin, conrelid), '''((?:[^'']|'''')*)''', 'g') word
                     where conrelid = relation.oid and contype = 'c' and conkey = array[attnum]
                       and pg_get_expr(conbin, conrelid) ~ '= ANY [(]+ARRAY[[]')),
                 'defaultWord', (select replace(found[1], '''''', '''') from pg_attrdef,
                                        regexp_match(pg_get_expr(adbin, adrelid), '^''((?:[^'']|'''')*)''::') found
                                  where adrelid = relation.oid and adnum = attnum and attgenerated = '')
               ) order by attnum), '{}')
          from pg_attribute join pg_type on pg_type.oid = atttypid
         where attrelid = relation.oid and attnum > 0 and not attisdropped) as columns
  from pg_class relation join pg_namespace namespace on namespace.oid = relation.relnamespace
 where relation.relkind in ('r', 'p', 'v', 'm', 'f') and relation.relpersistence <> 't'
   and namespace.nspname <> 'information_schema' and namespace.nspname !~ '^pg_'
   and namespace.nspname = coalesce($1::text, namespace.nspname) and relation.relname = $2::text
 order by 1
