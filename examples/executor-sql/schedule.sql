-- From here on PostgreSQL sweeps by itself.
create extension if not exists pg_cron;
select unstuck.schedule_sweeps__executor_jobs(2);
