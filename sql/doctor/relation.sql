-- The table itself: storage, dead rows, and the statements that fix them. $1 are the columns that a heartbeat writes:
-- an index with one of them in its key, an expression or its condition prevents HOT updates. $2 is the id.
with relation as (
  select pg_class.*, format('%I.%I', nspname, relname) as name,
         (select jsonb_object_agg(option_name, option_value) from pg_options_to_table(reloptions)) as options
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
   where pg_class.oid = to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs'))
)
select relation.relpersistence = 'u' as is_unlogged,
       exists (select from pg_index where indrelid = relation.oid and indisprimary) as has_primary_key,
       (relation.options ->> 'fillfactor')::int as fillfactor,
       coalesce((relation.options ->> 'autovacuum_enabled')::boolean, true) as has_autovacuum,
       coalesce(relation.options ->> 'autovacuum_vacuum_scale_factor',
                current_setting('autovacuum_vacuum_scale_factor'))::float8 as scale_factor,
       statistics.n_live_tup::float8 as live_rows, statistics.n_dead_tup::float8 as dead_rows,
       extract(epoch from now() - greatest(statistics.last_autovacuum, statistics.last_vacuum)) * 1000 as vacuum_age_ms,
       (select coalesce(jsonb_agg(jsonb_build_object(
                 'name', index.relname, 'columns', held.columns,
                 'drop', format('drop index concurrently %I.%I', /*table_schema*/'unstuck', index.relname))
                 order by index.relname), '[]')
          from pg_index join pg_class index on index.oid = indexrelid join pg_am on pg_am.oid = index.relam,
               lateral (select array_agg(attname::text) as columns from pg_attribute
                         where attrelid = indrelid and attname = any ($1::text[])
                           and (attnum = any (indkey) or exists (
                                 select from pg_depend
                                  where classid = 'pg_class'::regclass and objid = indexrelid
                                    and refclassid = 'pg_class'::regclass and refobjid = indrelid
                                    and refobjsubid = attnum))) held
         where indrelid = relation.oid and held.columns is not null and amname <> 'brin') as beat_indexes,
       format('alter table %s set logged', relation.name) as set_logged,
       format('alter table %s add primary key (%I)', relation.name, $2::text) as add_primary_key,
       format('alter table %s set (fillfactor = 70)', relation.name) as set_fillfactor,
       format('alter table %s reset (autovacuum_enabled)', relation.name) as enable_autovacuum,
       format('alter table %s set (autovacuum_vacuum_scale_factor = 0.02)', relation.name) as set_scale_factor,
       format('vacuum (analyze) %s', relation.name) as vacuum,
       format('analyze %s', relation.name) as analyze,
       format('select cron.schedule(%L, %L, %L)', 'unstuck ' || relation.name, '* * * * *',
              format('call %I.%I()', /*schema*/'unstuck',
                     concat('run_sweep', '__' || nullif(/*attachment*/'native', 'native'))))
         as schedule_sweeps
  from relation left join pg_stat_all_tables statistics on statistics.relid = relation.oid
