select count(*)::int as count from pg_stat_activity
 where datname = current_database() and application_name like 'unstuck%' and pid <> pg_backend_pid()
