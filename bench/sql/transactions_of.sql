select (xact_commit + xact_rollback)::float8 as count from pg_stat_database where datname = $1
