select current_setting('server_version_num')::int as version_number, current_setting('server_version') as version,
       pg_is_in_recovery() as is_standby, current_setting('transaction_read_only')::boolean as is_read_only,
       to_regclass(format('%I.migrations', /*schema*/'unstuck')) is not null as is_installed,
       to_regclass(format('%I.attachments', /*schema*/'unstuck')) is not null as has_attachments
