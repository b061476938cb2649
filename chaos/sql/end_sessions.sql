select count(*) filter (where pg_terminate_backend(pid))::int as count
  from (select pid from pg_stat_activity where client_port = any ($1) order by random() limit 1) session
