select pg_stat_statements_reset(0, oid, 0)::text as reset_at, pg_current_wal_insert_lsn()::text as lsn
  from pg_database where datname = $1
