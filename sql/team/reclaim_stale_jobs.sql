-- Takes back every running job whose TTL is over, now: by hand, from cron, with no other program running. Never held
-- after an outage. What it may not judge is answered as reported, and left alone.
create or replace function "team"."reclaim_stale_jobs"()
returns table (job_id /*id*/uuid, job_type text, action text, attempt_count int, previous_worker text)
language plpgsql as $$
declare
  v_step jsonb := "unstuck"."sweep_jobs"(null, 10000);
begin
  return query
  select reaped.id, reaped.stage, reaped.action, reaped.attempt, reaped.worker_id
    from jsonb_to_recordset(v_step -> 'reaped')
           as reaped(id /*id*/uuid, stage text, action text, attempt int, worker_id text);
  -- The hold of another reaper, if there is one, stays its own.
  perform "unstuck"."leave_pulse"('{"reaper_id": "reclaim_stale_jobs"}', '{}', v_step -> 'counts');
end
$$;
