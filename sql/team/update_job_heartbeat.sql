-- Renews a job for a worker and returns whether the job is its own. Checks the worker's name only, for workers that
-- know no leases: two workers of the same name are one to it. In mode observe it renews only leases granted before;
-- otherwise it changes nothing and returns NULL.
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
