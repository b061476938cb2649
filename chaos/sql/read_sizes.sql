select stat.n_dead_tup::float8 as dead_tuples, pg_relation_size(stat.relid)::float8 as table_bytes,
       pg_indexes_size(stat.relid)::float8 as index_bytes,
       (select count(*)::int from unstuck.jobs where status in ('waiting', 'running')) as unfinished
  from pg_stat_user_tables stat where stat.schemaname = 'unstuck' and stat.relname = 'jobs'
