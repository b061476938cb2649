-- Creates or changes a schedule. p_next_run_at applies if the schedule is new or its cron or timezone changed: writing
-- the same schedule again skips no occurrence and repeats none.
create or replace function "unstuck"."write_schedule"(
  p_name text, p_cron text, p_timezone text, p_job jsonb, p_next_run_at timestamptz, p_overlap text default 'skip')
returns setof "unstuck".schedule_status language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  perform "unstuck".require_schedule(p_name, p_cron, p_timezone, p_job, p_next_run_at, p_overlap);
  insert into "unstuck".schedules as known
    (attachment, name, cron, timezone, overlap, job, next_run_at, created_at, updated_at)
  values (/*attachment*/'native', p_name, p_cron, p_timezone, p_overlap, p_job, p_next_run_at, v_now, v_now)
  on conflict (attachment, name) do update
     set cron = excluded.cron, timezone = excluded.timezone, overlap = excluded.overlap, job = excluded.job,
         next_run_at = case when (known.cron, known.timezone) = (excluded.cron, excluded.timezone)
                            then known.next_run_at else excluded.next_run_at end,
         updated_at = v_now
   where (known.cron, known.timezone, known.overlap, known.job)
         is distinct from (excluded.cron, excluded.timezone, excluded.overlap, excluded.job);
  return query select * from "unstuck"."list_schedules"(p_name);
end
$$;
