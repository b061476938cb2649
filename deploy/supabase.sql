-- The grants of a Supabase project: service_role does the work, anon and authenticated get nothing. Run it as the
-- owner of the tables (postgres) after unstuck attach or unstuck migrate up, and again after an upgrade.
-- docs/guides/tables/supabase.md says more.

-- Only operators and functions of PostgreSQL itself are found, now and in what is created here.
set search_path = pg_catalog, pg_temp;

grant usage on schema "unstuck" to "service_role";
grant select on all tables in schema "unstuck" to "service_role";
grant insert, update, delete on
  "unstuck"."jobs", "unstuck".events, "unstuck".dispatches, "unstuck".schedules, "unstuck".sweeps,
  "unstuck".breakers, "unstuck".dependencies, "unstuck".probes, "unstuck".pauses, "unstuck".rate_limits,
  "unstuck".dedupe_locks, "unstuck".dedupe_windows, "unstuck".queue_limits, "unstuck".claim_locks,
  "unstuck".kept_workers, "unstuck".workers, "unstuck".webhooks, "unstuck".deliveries,
  "unstuck".waits, "unstuck".operations, "unstuck".operation_jobs, "unstuck".causes,
  "unstuck".observations, "unstuck".sweep_history, "unstuck".audit_entries, "unstuck".trends
  to "service_role";

-- Revokes every attached table, and the objects that attach created beside it, from the API roles: PostgREST serves
-- whatever is in an exposed schema.
do $$
declare
  v_object text;
  v_right text;
begin
  for v_object, v_right in
    select pg_catalog.format('table %I.%I', table_schema, table_name), 'select, insert, update, delete'
      from "unstuck".attachments where name <> 'native'
    union all
    select 'sequence ' || pg_catalog.pg_get_serial_sequence(pg_catalog.format('%I.%I', table_schema, table_name), attname), 'usage'
      from "unstuck".attachments join pg_attribute on attrelid = pg_catalog.to_regclass(pg_catalog.format('%I.%I', table_schema, table_name))
     where name <> 'native' and attnum > 0 and not attisdropped
  loop
    if v_object is not null then
      execute pg_catalog.format('grant %s on %s to service_role', v_right, v_object);
    end if;
  end loop;
  for v_object, v_right in
    select pg_catalog.format(case kind when 'view' then 'table %I.%I' else 'routine %I.%I(%s)' end, table_schema, made, takes),
           case kind when 'view' then 'select' else 'execute' end
      from "unstuck".team_objects,
           -- The function that a wrapper calls, while it is ours.
           pg_catalog.unnest(array[name, case when kept_digest is not null then kept_name end]) made
     where made is not null
  loop
    execute pg_catalog.format('revoke all on %s from public, anon, authenticated', v_object);
    execute pg_catalog.format('grant %s on %s to service_role', v_right, v_object);
  end loop;
end
$$;

-- The search path of the caller, which triggers of the team rely on.
reset search_path;
