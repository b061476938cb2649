-- A team's events table $1.$2, and where its column $3 points that is not the job table itself.
select relation.relkind::text as kind,
       (select coalesce(jsonb_object_agg(attname, jsonb_build_object(
                 'type', format_type(atttypid, null),
                 'is_generated', attgenerated <> '',
                 'is_required', attnotnull and not atthasdef and attidentity = '')), '{}')
          from pg_attribute where attrelid = relation.oid and attnum > 0 and not attisdropped) as columns,
       (select coalesce(jsonb_agg(jsonb_build_object(
                 'name', conname, 'table', confrelid::regclass::text,
                 'drop', format('alter table %I.%I drop constraint %I', $1::text, $2::text, conname))
                 order by conname), '[]')
          from pg_constraint
         where conrelid = relation.oid and contype = 'f'
           and confrelid is distinct from to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs'))
           and (select attnum from pg_attribute where attrelid = relation.oid and attname = $3::text) = any (conkey)
       ) as foreign_keys
  from pg_class relation
 where relation.oid = to_regclass(format('%I.%I', $1::text, $2::text))
