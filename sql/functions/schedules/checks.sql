-- Private: checks the arguments of write_schedule.
create or replace function "unstuck".require_schedule(
  p_name text, p_cron text, p_timezone text, p_job jsonb, p_next_run_at timestamptz, p_overlap text)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_problem text := "unstuck".job_problem(coalesce(p_job, 'null'));
  v_stray text;
begin
  perform "unstuck".require_schedule_name(p_name);
  perform "unstuck".require(length(p_cron) between 1 and 200, 'cron', p_cron, '1 to 200 characters');
  perform "unstuck".require(length(p_timezone) between 1 and 200, 'timezone', p_timezone, '1 to 200 characters');
  perform "unstuck".require(p_overlap in ('allow', 'skip'), 'overlap', p_overlap, 'allow or skip');
  perform "unstuck".require(isfinite(p_next_run_at), 'next_run_at', p_next_run_at::text, 'a time');
  if v_problem is not null then
    raise exception using errcode = 'UN001', message = v_problem;
  end if;
  select key into v_stray from jsonb_each_text(p_job)
   where key in ('delay_ms', 'run_at', 'dedupe_key', 'dedupe_for_ms', 'dedupe_replace', 'expires_at')
     and value is not null limit 1;
  return "unstuck".require(v_stray is null, 'job', v_stray,
                           'a job without delay_ms, run_at, expires_at and dedupe_key');
end
$$;

-- Private: checks the name of a schedule.
create or replace function "unstuck".require_schedule_name(p_name text)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return "unstuck".require(length(p_name) between 1 and 200, 'name', p_name, '1 to 200 characters');
end
$$;
