-- Native jobs and events that a removal kept are known by their columns, whatever else the schema holds.
select current_setting('server_version_num')::int as version_number, current_setting('server_version') as version,
       pg_is_in_recovery() as is_standby, current_setting('transaction_read_only')::boolean as is_read_only,
       to_regclass(format('%I.migrations', /*schema*/'unstuck')) is not null
         and to_regclass(format('%I.attachments', /*schema*/'unstuck')) is not null as is_installed,
       (select count(*) from pg_attribute
         where attrelid = to_regclass(format('%I.jobs', /*schema*/'unstuck')) and not attisdropped
           and attname in ('lease_id', 'finished_lease_id', 'fence', 'generation')) = 4 as has_jobs,
       (select count(*) from pg_attribute
         where attrelid = to_regclass(format('%I.events', /*schema*/'unstuck')) and not attisdropped
           and attname in ('attachment', 'job_id', 'at', 'data')) = 4 as has_events
