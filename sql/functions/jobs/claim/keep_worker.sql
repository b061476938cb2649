-- Private: of jobs that a claim has locked, may this worker run the first one that has its last chance? NULL where none
-- has. It may if it is idle and the job comes first: it gets no other while that runs.
-- Otherwise the job goes to the next worker that is idle. If none was in the 30 s since the job was due, this one takes
-- no more jobs until it is (kept_job): one worker of a queue at a time.
create or replace function "unstuck"."keep_worker"(
  p_worker_id text, p_ids /*id*/uuid[], p_is_first boolean, p_queue text, p_lease_id uuid,
  p_policy "unstuck".policies)
returns boolean language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_id /*id*/uuid;
  v_due_at timestamptz;
  v_is_alone boolean;
begin
  select job."id", coalesce(job."run_at", job."created_at") into v_id, v_due_at
    from "unstuck"."jobs" job
   where job."id" = any (p_ids)
     and "unstuck".is_last_chance(p_policy, job."attempt", job."failures", job."crashes", job."timeouts",
                                  job."max_attempts")
   order by coalesce(job."run_at", job."created_at"), job."id" limit 1;
  if v_id is null then
    return null;
  end if;
  v_is_alone := p_is_first and v_id = p_ids[1] and "unstuck"."is_idle"(p_worker_id);
  if v_is_alone or v_due_at <= "unstuck".after_ms(v_now, -30000) and not exists (
       select from "unstuck".kept_workers other
        where other.attachment = /*attachment*/'native' and other.queue = p_queue and other.lease_id is null
          and other.seen_at > "unstuck".after_ms(v_now, -30000)) then
    insert into "unstuck".kept_workers as kept (attachment, worker_id, job_id, queue, lease_id, seen_at)
    values (/*attachment*/'native', p_worker_id, v_id::text, p_queue, case when v_is_alone then p_lease_id end, v_now)
    on conflict (attachment, worker_id) do update
       set job_id = excluded.job_id, queue = excluded.queue, lease_id = excluded.lease_id, seen_at = excluded.seen_at;
  end if;
  return v_is_alone;
end
$$;
