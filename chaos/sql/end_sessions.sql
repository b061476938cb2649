select count(*) filter (where pg_terminate_backend(pid))::int as count
  from (select pid from pg_stat_activity
         where client_port = any ($1) or $1::int[] is null and application_name like 'unstuck%'
         order by random() limit 1) session
