-- Privileges that a worker's role lacks (docs/guides/operate/database-roles.md), with the statement that grants them.
-- $1 and $2 are schema and name of the team's events table, if any.
select format('schema %I', nspname) as object, 'usage' as missing,
       format('grant usage on schema %I to %I', nspname, current_user) as fix
  from pg_namespace
 where nspname in (/*schema*/'unstuck', /*table_schema*/'unstuck') and not has_schema_privilege(oid, 'usage')
union all
select format('%I.%I', nspname, relname), lacking.rights,
       format('grant %s on %I.%I to %I', lacking.rights, nspname, relname, current_user)
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace,
       lateral (select string_agg(right_name, ', ' order by place) as rights
                  from pg_catalog.unnest(array['select', 'insert', 'update', 'delete'])
                         with ordinality asked(right_name, place)
                 where not has_table_privilege(pg_class.oid, right_name)
                   and case when nspname = $1::text and relname = $2::text then right_name = 'insert'
                            when nspname = /*schema*/'unstuck' and relname in ('policies', 'attachments')
                              then right_name = 'select'
                            else true end) lacking
 where relkind in ('r', 'p') and lacking.rights is not null
   and (nspname = /*schema*/'unstuck' and relname in ('policies', 'attachments', 'events', 'dispatches', 'schedules',
          'sweeps', 'sweep_history', 'audit_entries', 'breakers', 'dependencies', 'probes', 'pauses', 'rate_limits',
          'dedupe_locks', 'dedupe_windows', 'kept_workers', 'workers', 'trends')
        or nspname = /*table_schema*/'unstuck' and relname = /*table*/'jobs'
        or nspname = $1::text and relname = $2::text)
 order by 1
