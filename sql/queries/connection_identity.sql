-- Two servers have no start in common, and a standby has another one than its primary.
select pg_backend_pid() as backend_pid,
       format('%s %s', extract(epoch from pg_postmaster_start_time()), oid) as database
  from pg_database
 where datname = current_database()
