-- Removes the sweeps of a table from pg_cron. A job of another role stays: pg_cron does not show it.
create or replace function "unstuck".unschedule_sweeps(p_attachment text)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_count int;
begin
  if to_regclass('cron.job') is null then
    return false;
  end if;
  execute 'select count(cron.unschedule(jobid)) from cron.job where jobname = $1'
    into v_count using 'unstuck ' || p_attachment;
  return v_count > 0;
exception when insufficient_privilege then
  return false;
end
$$;
