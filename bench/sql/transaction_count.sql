select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()
