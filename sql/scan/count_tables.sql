-- Tables that list_tables chooses from.
select count(*)::int as tables
  from pg_class relation join pg_namespace namespace on namespace.oid = relation.relnamespace
 where relation.relkind in ('r', 'p') and not relation.relispartition and relation.relpersistence <> 't'
   and namespace.nspname <> 'information_schema' and namespace.nspname !~ '^pg_'
