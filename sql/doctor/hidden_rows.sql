-- Tables that a worker uses and whose rows row security may hide from this role, by the commands that it is granted,
-- with the statement that fixes it. $1 and $2 are schema and name of the team's events table, if any.
select format('%I.%I', nspname, relname) as object, bool_or(hidden.is_all) as is_all,
       string_agg(hidden.command, ', ' order by hidden.command) as commands,
       case when bool_or(hidden.is_restricted) then format('alter role %I bypassrls', current_user)
            else format('create policy %I on %I.%I to %I using (true) with check (true)', current_user, nspname,
                        relname, current_user) end as fix
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace,
       lateral "unstuck".hidden_commands(
         pg_class.oid, (select oid from pg_roles where rolname = current_user)) hidden
 where relkind in ('r', 'p') and row_security_active(pg_class.oid) and has_table_privilege(pg_class.oid, hidden.command)
   and (nspname = /*table_schema*/'unstuck' and relname = /*table*/'jobs'
        or nspname = $1::text and relname = $2::text and hidden.command = 'insert'
        or nspname = /*schema*/'unstuck' and relname in (
             'attachments', 'policies', 'events', 'sweeps', 'sweep_history', 'observations', 'audit_entries',
             'schedules', 'dispatches', 'breakers', 'dependencies', 'probes', 'pauses', 'rate_limits', 'dedupe_locks',
             'kept_workers', 'workers', 'webhooks', 'deliveries', 'operations', 'operation_jobs', 'causes'))
 group by nspname, relname
 order by 1
