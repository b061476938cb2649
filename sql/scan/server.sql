select current_setting('server_version') as version, current_database()::text as database,
       current_user::text as role, pg_is_in_recovery() as is_standby
