select pg_relation_size('unstuck.jobs')::float8 as bytes, pg_current_wal_insert_lsn()::text as lsn
