-- Says that a worker is still at a job, and answers whether the job is its own. The name of the worker is the whole
-- check, for workers that know no lease: two of one name are one to it. In mode observe only a lease is renewed that
-- was granted before; anything else is left as it is, and answered NULL.
create or replace function "team"."update_job_heartbeat"(p_job_id /*id*/uuid, p_worker_id text)
returns boolean language plpgsql as $$
declare
  v_lease_id uuid;
begin
  select job."lease_id" into v_lease_id from "unstuck"."jobs" job
   where job."id" = p_job_id and job."worker_id"::text = p_worker_id
     and job."status" is not distinct from /*any_running*/'running';
  if v_lease_id is not null then
    return (select beat.answer in ('kept', 'busy', 'cancel-asked')
              from "unstuck"."heartbeat_jobs"(array[p_job_id], array[v_lease_id]) beat);
  end if;
  if ("unstuck".policy_of(/*attachment*/'native')).is_observed then
    raise notice '%.% is in mode observe: no heartbeat is written. To let it act: unstuck mode reap --table %',
      /*table_schema*/'unstuck', /*table*/'jobs', /*table*/'jobs';
    return null;
  end if;
  update "unstuck"."jobs" job set "heartbeat_at" = clock_timestamp()
   where job."id" = p_job_id and job."worker_id"::text = p_worker_id and job."lease_id" is null
     and job."status" is not distinct from /*any_running*/'running';
  return found;
end
$$;
