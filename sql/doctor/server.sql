select current_setting('server_version') as version, current_setting('server_version_num')::int as version_number,
       extract(epoch from clock_timestamp()) * 1000 as clock_ms, pg_is_in_recovery() as is_standby,
       current_setting('autovacuum') = 'on' as has_autovacuum, current_user::text as role,
       -- Only monitoring roles see transactions of others.
       pg_has_role(current_user, 'pg_read_all_stats', 'usage') as can_see_others,
       exists (select from pg_extension where extname = 'pg_cron') as has_cron,
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         - coalesce(current_setting('reserved_connections', true)::int, 0) as connection_slots
