-- Private: the job that a worker runs alone, or finishes its other jobs for; NULL where it may take any. A row is
-- forgotten when its job has ended or gone elsewhere, and so is a reservation that the worker did not use in 30 s or
-- could not use now: the job was put off, its queue paused, or its breaker open.
create or replace function "unstuck"."kept_job"(p_worker_id text)
returns /*id*/uuid language plpgsql as $$
declare
  v_kept "unstuck".kept_workers;
begin
  select * into v_kept from "unstuck".kept_workers
   where attachment = /*attachment*/'native' and worker_id = p_worker_id;
  if not found then
    return null;
  end if;
  if exists (select from "unstuck"."jobs" job
              where job."id" = v_kept.job_id::/*id*/uuid
                and case when v_kept.lease_id is null
                         then job."status" = /*waiting*/'waiting' and v_kept.seen_at > "unstuck".after_ms(now(), -30000)
                          and coalesce(job."run_at", job."created_at") <= now()
                          and (select cardinality(asked.queues) > 0
                                 from "unstuck".open_queues(/*attachment*/'native', array[v_kept.queue]) asked)
                         else job."lease_id" = v_kept.lease_id end) then
    if v_kept.lease_id is null and not "unstuck"."is_idle"(p_worker_id) then
      update "unstuck".kept_workers set seen_at = clock_timestamp()
       where attachment = /*attachment*/'native' and worker_id = p_worker_id;
    end if;
    return v_kept.job_id::/*id*/uuid;
  end if;
  delete from "unstuck".kept_workers
   where attachment = /*attachment*/'native' and worker_id = p_worker_id and job_id = v_kept.job_id;
  return null;
end
$$;
