-- Whatever keeps dead rows from being removed in this database, oldest first.
select 'transaction' as kind,
       format('pid %s, %s, %s', pid, usename, coalesce(nullif(application_name, ''), 'no name')) as name,
       coalesce(state, 'unknown state') as state, extract(epoch from clock_timestamp() - xact_start) * 1000 as age_ms,
       age(backend_xmin) as xmin_age, format('select pg_terminate_backend(%s)', pid) as fix
  from pg_stat_activity
 where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
   and backend_type = 'client backend'
union all
select 'prepared transaction', gid, 'prepared', extract(epoch from clock_timestamp() - prepared) * 1000,
       age(transaction), format('rollback prepared %L', gid)
  from pg_prepared_xacts where database = current_database()
union all
select 'replication slot', slot_name, case when active then 'active' else 'inactive' end, null,
       coalesce(age(xmin), age(catalog_xmin)), format('select pg_drop_replication_slot(%L)', slot_name)
  from pg_replication_slots
 where (database is null or database = current_database()) and restart_lsn is not null
 order by age_ms desc nulls last
 limit 20
