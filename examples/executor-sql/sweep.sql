-- For servers without pg_cron: a sweep every second, as long as this psql runs.
call unstuck.run_sweep__executor_jobs('psql') \watch 1
