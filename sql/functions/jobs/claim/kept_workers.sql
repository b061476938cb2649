-- Private: does no job run under the name of this worker?
create or replace function "unstuck"."is_idle"(p_worker_id text)
returns boolean language plpgsql stable set enable_seqscan = off as $$
begin
  return not exists (select from "unstuck"."jobs" job
                      where job."status" in /*running_words*/('running') and job."worker_id"::text = p_worker_id);
end
$$;

-- Private: among jobs that a claim has locked, may this worker run the first one with a last chance now? NULL if there
-- is none. It may if it is idle, and the job comes first or has been due for reservation_ms; it then gets no other job
-- while that one runs.
-- Otherwise the job waits for an idle worker. If it has been due for as long, this worker is reserved (p_reserves) and
-- takes no more jobs until it is idle: one worker per queue at a time. An idle one is never reserved: if all polls were
-- rarer than a reservation lasts, each claim would reserve its worker anew and take nothing.
create or replace function "unstuck"."keep_worker"(
  p_worker_id text, p_ids /*id*/uuid[], p_is_first boolean, p_reserves boolean, p_lease_id uuid,
  p_policy "unstuck".policies)
returns boolean language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_id /*id*/uuid;
  v_queue text;
  v_is_late boolean;
  v_is_alone boolean;
begin
  select job."id", coalesce(job."queue", job."type"),
         p_reserves and coalesce(job."run_at", job."created_at") <= "unstuck".after_ms(
           v_now, -"unstuck".reservation_ms())
    into v_id, v_queue, v_is_late
    from "unstuck"."jobs" job
   where job."id" = any (p_ids)
     and "unstuck".is_last_chance(p_policy, job."attempt", job."failures", job."crashes", job."timeouts",
                                  job."max_attempts")
   order by coalesce(job."run_at", job."created_at"), job."id" limit 1;
  if v_id is null then
    return null;
  end if;
  v_is_alone := p_is_first and (v_id = p_ids[1] or v_is_late) and "unstuck"."is_idle"(p_worker_id);
  if v_is_alone or v_is_late and not "unstuck"."has_reserved_worker"(v_queue) then
    insert into "unstuck".kept_workers as kept (attachment, worker_id, job_id, queue, lease_id, seen_at)
    values (/*attachment*/'native', p_worker_id, v_id::text, v_queue, case when v_is_alone then p_lease_id end, v_now)
    on conflict (attachment, worker_id) do update
       set job_id = excluded.job_id, queue = excluded.queue, lease_id = excluded.lease_id, seen_at = excluded.seen_at;
  end if;
  return v_is_alone;
end
$$;

-- Private: is a worker reserved for a job of this queue, and has it claimed within reservation_ms?
create or replace function "unstuck"."has_reserved_worker"(p_queue text)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (select from "unstuck".kept_workers kept
                  where kept.attachment = /*attachment*/'native' and kept.queue = p_queue and kept.lease_id is null
                    and kept.seen_at > "unstuck".after_ms(now(), -"unstuck".reservation_ms()));
end
$$;

-- Private: the job that a worker runs alone, or is reserved for; NULL if it may take any. A row is deleted once its
-- job has ended or run elsewhere; so is a reservation that cannot be used now because the job was postponed, its queue
-- paused, or its breaker opened.
-- A reservation that has lapsed still counts for its own worker, which may poll less often than that: a busy one stays
-- reserved unless another one is by now, and an idle one tries to take the job once more.
create or replace function "unstuck"."kept_job"(p_worker_id text)
returns /*id*/uuid language plpgsql as $$
declare
  v_kept "unstuck".kept_workers;
  v_is_open boolean;
  v_is_kept boolean;
  v_is_reserved boolean;
  v_is_idle boolean;
  v_has_lapsed boolean;
begin
  select * into v_kept from "unstuck".kept_workers
   where attachment = /*attachment*/'native' and worker_id = p_worker_id;
  if not found then
    return null;
  end if;
  v_is_open := (select cardinality(asked.queues) > 0
                  from "unstuck".open_queues(/*attachment*/'native', array[v_kept.queue]) asked);
  v_is_kept := exists (select from "unstuck"."jobs" job
                        where job."id" = v_kept.job_id::/*id*/uuid
                          and case when v_kept.lease_id is null
                                   then job."status" = /*waiting*/'waiting'
                                    and coalesce(job."run_at", job."created_at") <= now()
                                    and v_is_open
                                   else job."lease_id" = v_kept.lease_id end);
  v_is_reserved := v_is_kept and v_kept.lease_id is null;
  if v_is_reserved then
    v_is_idle := "unstuck"."is_idle"(p_worker_id);
    v_has_lapsed := v_kept.seen_at <= "unstuck".after_ms(now(), -"unstuck".reservation_ms());
    v_is_kept := v_is_idle or not v_has_lapsed or not "unstuck"."has_reserved_worker"(v_kept.queue);
  end if;
  if not v_is_kept or v_is_reserved and v_is_idle and v_has_lapsed then
    delete from "unstuck".kept_workers
     where attachment = /*attachment*/'native' and worker_id = p_worker_id and job_id = v_kept.job_id;
  elsif v_is_reserved and not v_is_idle then
    v_kept.seen_at := clock_timestamp();
    update "unstuck".kept_workers set seen_at = v_kept.seen_at
     where attachment = /*attachment*/'native' and worker_id = p_worker_id;
  end if;
  return case when v_is_kept then v_kept.job_id::/*id*/uuid end;
end
$$;

-- Private: the job of this queue for which a worker is reserved, and its group; NULL if there is none. It holds a place
-- of the queue and of its group: others would take each one that becomes free until that worker is idle, and it would
-- find none.
create or replace function "unstuck"."reserved_place"(p_queue text, out id /*id*/uuid, out group_key text)
language plpgsql stable set enable_seqscan = off as $$
#variable_conflict use_column
begin
  select job."id", job."group_key"::text into id, group_key
    from "unstuck".kept_workers kept
    join "unstuck"."jobs" job on job."id" = kept.job_id::/*id*/uuid
   where kept.attachment = /*attachment*/'native' and kept.queue = p_queue and kept.lease_id is null
     and kept.seen_at > "unstuck".after_ms(now(), -"unstuck".reservation_ms())
     and job."status" is not distinct from /*waiting*/'waiting'
     and coalesce(job."run_at", job."created_at") <= now()
   limit 1;
end
$$;

-- Private: how long a job with a last chance waits for its turn or an idle worker before the next idle worker takes it
-- or another one is reserved, and how long the reservation of a silent worker keeps others from theirs.
create or replace function "unstuck".reservation_ms()
returns float8 language sql immutable
return 30000::float8;
