select pg_stat_force_next_flush(), n_tup_upd::int as updates, n_tup_hot_upd::int as hot_updates
  from pg_stat_all_tables where relid = 'unstuck.jobs'::regclass
