-- Reclaims every running job past its TTL: by hand or from cron, with no other program running. Never held after an
-- outage. Jobs that it may not judge are returned as reported and left alone. In mode observe it returns no row and
-- only records what it would reclaim.
create or replace function "team"."reclaim_stale_jobs"()
returns table (job_id /*id*/uuid, job_type text, action text, attempt_count int, previous_worker text)
language plpgsql as $$
declare
  v_reaper constant jsonb := '{"reaper_id": "reclaim_stale_jobs"}';
  v_step jsonb;
begin
  if ("unstuck".policy_of(/*attachment*/'native')).is_observed then
    perform "unstuck"."sweep_jobs"(v_reaper, 10000);
    raise notice '%.% is in mode observe: nothing is reclaimed. To let it act: unstuck mode reap --table %',
      /*table_schema*/'unstuck', /*table*/'jobs', /*table*/'jobs';
    return;
  end if;
  v_step := "unstuck"."sweep_jobs"(null, 10000);
  return query
  select reaped.id, reaped.stage, reaped.action, reaped.attempt, reaped.worker_id
    from jsonb_to_recordset(v_step -> 'reaped')
           as reaped(id /*id*/uuid, stage text, action text, attempt int, worker_id text);
  -- Another reaper's hold is left alone.
  perform "unstuck"."record_reaper_heartbeat"(v_reaper, '{}', v_step -> 'counts');
end
$$;
