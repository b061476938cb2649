-- The sessions that show workers alive: of one worker by its ports, or of all.
select count(*) filter (where pg_terminate_backend(pid))::int as count
  from pg_stat_activity
 where application_name = 'unstuck presence' and (client_port = any ($1) or $1::int[] is null)
