select count(*) filter (where pg_cancel_backend(pid))::int as count
  from pg_stat_activity
 where (client_port = any ($1) or $1::int[] is null and application_name like 'unstuck%') and state = 'active'
