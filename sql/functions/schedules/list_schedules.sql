-- The schedules of this table by name, or one of them. due_in_ms is negative if late.
create or replace function "unstuck"."list_schedules"(p_name text default null)
returns setof "unstuck".schedule_status language sql stable set search_path = pg_catalog, pg_temp as $$
  select name, cron, timezone, overlap, job, next_run_at, "unstuck".ms_between(now(), next_run_at), last_run_at,
         last_job_id, last_skipped_at
    from "unstuck".schedules
   where attachment = /*attachment*/'native' and (p_name is null or name = p_name)
   order by name
$$;
