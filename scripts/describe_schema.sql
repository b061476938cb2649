-- The objects of a schema, one per line, in an order that does not depend on how they were created. The name of the schema is
-- omitted, so that installs under different names compare equal.
with place as (
  select $1::text as name, to_regnamespace(quote_ident($1::text)) as id
), relation as (
  select pg_class.oid as id, relname, relkind, reloptions from pg_class, place
   where relnamespace = place.id and relkind in ('r', 'p', 'v', 'm', 'f')
), described(kind, owner, ordinal, text) as (
  select '1', relname::text, 0,
         concat_ws(' ', case relkind when 'r' then 'table' else 'relation ' || relkind::text end, relname,
                   array_to_string(reloptions, ' '))
    from relation
  union all
  select '1', relname, attnum,
         concat_ws(' ', 'column', relname || '.' || attname, format_type(atttypid, atttypmod),
                   case when attnotnull then 'not null' end,
                   case when attidentity <> '' then 'identity ' || attidentity::text end,
                   case when attgenerated <> '' then 'generated' end,
                   'default ' || pg_get_expr(adbin, adrelid))
    from relation join pg_attribute on attrelid = relation.id and attnum > 0 and not attisdropped
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
  union all
  -- PostgreSQL 18 lists NOT NULL here too; the columns show it on every version.
  select '1', relname, 2000, concat_ws(' ', 'constraint', relname, conname, pg_get_constraintdef(pg_constraint.oid))
    from relation join pg_constraint on conrelid = relation.id where contype <> 'n'
  union all
  select '1', relname, 3000,
         pg_get_indexdef(indexrelid) || case when indisvalid then '' else ' (invalid)' end
    from relation join pg_index on indrelid = relation.id
  union all
  select '1', relname, 4000, pg_get_triggerdef(pg_trigger.oid)
    from relation join pg_trigger on tgrelid = relation.id where not tgisinternal
  union all
  select '2', typname, 0,
         concat_ws(' ', 'domain', typname, format_type(typbasetype, typtypmod),
                   (select string_agg(pg_get_constraintdef(oid), ' ' order by conname::text)
                      from pg_constraint where contypid = pg_type.oid and contype <> 'n'))
    from pg_type, place where typnamespace = place.id and typtype = 'd'
  union all
  select '2', typname, 0,
         concat_ws(' ', 'type', typname,
                   (select string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' order by attnum)
                      from pg_attribute where attrelid = typrelid and attnum > 0 and not attisdropped))
    from pg_type join pg_class on pg_class.oid = typrelid and relkind = 'c', place where typnamespace = place.id
  union all
  select '2', typname, 0,
         concat_ws(' ', 'enum', typname,
                   (select string_agg(enumlabel, ', ' order by enumsortorder)
                      from pg_enum where enumtypid = pg_type.oid))
    from pg_type, place where typnamespace = place.id and typtype = 'e'
  union all
  select '3', proname, 0,
         concat_ws(' ', case prokind when 'p' then 'procedure' else 'function' end,
                   proname || '(' || pg_get_function_arguments(pg_proc.oid) || ')',
                   'returns ' || pg_get_function_result(pg_proc.oid), lanname,
                   case provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
                   case when prosecdef then 'security definer' end, array_to_string(proconfig, ' '),
                   md5(replace(replace(coalesce(
                     replace(pg_get_function_sqlbody(pg_proc.oid), quote_ident(place.name) || '.', '"<schema>".'),
                     prosrc), format('"%s"', place.name), '"<schema>"'),
                     quote_literal(place.name), '''<schema>''')))
    from pg_proc join pg_language on pg_language.oid = prolang, place where pronamespace = place.id
)
select replace(text, quote_ident(place.name) || '.', '<schema>.') as line
  from described, place
 -- Sorted by bytes: the collation of the database must not change the order.
 order by kind, convert_to(owner, 'UTF8'), ordinal, convert_to(text, 'UTF8')
