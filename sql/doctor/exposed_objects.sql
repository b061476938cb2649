-- Our objects that show a role more of the jobs than their table does, or let it change more: views and functions that
-- run with the rights of their owner, and tables with the history of jobs, which have no row security of their own.
-- role is NULL for a view that no such role can read yet. is_hidden: row security hides the jobs from the role;
-- otherwise it has no privilege on the table.
with job_table as (
  select to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs'))::oid as oid
), object as (
  select 'view' as kind, relation.oid, format('%I.%I', made.table_schema, made.name) as name,
         relation.relnamespace as schema,
         relation.relowner as owner, coalesce(relation.relacl, acldefault('r', relation.relowner)) as acl
    from "unstuck".team_objects made
    join pg_class relation on relation.oid = to_regclass(format('%I.%I', made.table_schema, made.name))
   where made.attachment = /*attachment*/'native' and made.kind = 'view'
     and not coalesce(relation.reloptions @> '{security_invoker=true}', false)
  union all
  select 'table', oid, format('%I.%I', /*schema*/'unstuck', relname), relnamespace, relowner,
         coalesce(relacl, acldefault('r', relowner))
    from pg_class
   where relnamespace = to_regnamespace(/*schema*/'unstuck') and relkind = 'r' and relname in (
           'events', 'observations', 'dispatches', 'deliveries', 'operations', 'operation_jobs', 'schedules',
           'audit_entries', 'requests', 'tokens', 'webhooks')
  union all
  select 'function', pg_proc.oid,
         format('%I.%I(%s)', nspname, proname, pg_get_function_identity_arguments(pg_proc.oid)), pronamespace, proowner,
         coalesce(proacl, acldefault('f', proowner))
    from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
   where prosecdef and (
           pg_proc.oid in (select to_regprocedure(format('%I.%I(%s)', made.table_schema, made.name, made.takes))
                     from "unstuck".team_objects made where made.attachment = /*attachment*/'native')
           or pronamespace = to_regnamespace(/*schema*/'unstuck')
              and proname = concat('fence_writer', '__' || nullif(/*attachment*/'native', 'native')))
), used as (
  select object.*, held.grantee, case object.kind when 'function' then 'update' else 'select' end as command,
         case held.grantee when 0 then 'PUBLIC' else pg_get_userbyid(held.grantee)::text end as role
    from object, aclexplode(object.acl) held
   where held.grantee <> object.owner and held.privilege_type in ('SELECT', 'EXECUTE')
     and (held.grantee = 0 or has_schema_privilege(held.grantee, object.schema, 'usage'))
), judged as (
  select used.*,
         exists (select from "unstuck".hidden_commands(job_table.oid, used.grantee) hidden
                  where hidden.command = used.command) as is_hidden,
         case when used.grantee = 0
              then exists (select from pg_class, aclexplode(relacl) held where pg_class.oid = job_table.oid
                              and held.grantee = 0 and held.privilege_type = upper(used.command))
              else has_any_column_privilege(used.grantee, job_table.oid, used.command) end as is_let
    from used, job_table
)
select kind, name as object, role, is_hidden,
       case when kind = 'view' and current_setting('server_version_num')::int >= 150000
              then format('alter view %s set (security_invoker = true)', name)
            else format('revoke %s on %s %s from %s', case kind when 'function' then 'execute' else 'select' end,
                        case kind when 'function' then 'function' else 'table' end, name,
                        case when grantee = 0 then 'public' else quote_ident(role) end) end as fix
  from judged where is_hidden or not is_let
union all
select kind, name, null, false, format('alter view %s set (security_invoker = true)', name)
  from object
 where kind = 'view' and current_setting('server_version_num')::int >= 150000
   and not exists (select from judged where judged.oid = object.oid and (is_hidden or not is_let))
 order by 1 desc, 2, 3
