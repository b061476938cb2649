-- Claims one job by id if it is waiting, due, within its budget and not locked; otherwise returns no row. A paused
-- queue or an open breaker holds it back. A job without budget is ended (C10). A job whose next crash would end it
-- goes to an idle worker only, which gets no other job meanwhile (REAP-15).
create or replace function "unstuck"."claim_job"(
  p_id /*id*/uuid, p_worker_id text, p_lease_ms bigint default null, p_policy jsonb default null)
returns setof "unstuck".claimed_job language plpgsql set enable_seqscan = off as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_id /*id*/uuid;
  v_stage text;
  v_lease_ms bigint;
  v_deadline_ms bigint;
  v_reaped_at timestamptz;
  v_run_at timestamptz;
  v_has_budget boolean;
  v_queue text;
  v_is_last_chance boolean;
  v_lease_id uuid := gen_random_uuid();
  v_queues text[];
  v_slots jsonb;
begin
  perform "unstuck".require_claim(p_worker_id, p_lease_ms);
  perform "unstuck".require(p_id is not null, 'id', p_id::text, 'the id of a job');
  if v_policy.is_observed then
    perform "unstuck".require_acting(/*attachment*/'native');
  end if;
  if "unstuck".has_queue_rules(/*attachment*/'native') then
    select queues, slots into v_queues, v_slots
      from "unstuck".open_queues(
        /*attachment*/'native',
        array(select coalesce(job."queue", job."type")::text from "unstuck"."jobs" job where job."id" = p_id));
    if cardinality(v_queues) = 0 or "unstuck"."kept_job"(p_worker_id) <> p_id then
      return;
    end if;
  end if;
  select job."id", stage.name,
         coalesce(p_lease_ms, "unstuck".stage_lease_ms(v_policy, stage.name, job."expected_duration_ms")),
         least("unstuck".stage_deadline_ms(v_policy, stage.name),
               "unstuck".max_runtime_ms(v_policy, job."type"::text)),
         job."reaped_at", job."run_at", coalesce(job."queue", job."type"),
         /*judged_waiting*/("unstuck".has_budget(v_policy, job."attempt", job."failures", job."crashes",
                                                 job."timeouts", job."max_attempts")),
         "unstuck".is_last_chance(v_policy, job."attempt", job."failures", job."crashes", job."timeouts",
                                  job."max_attempts")
    into v_id, v_stage, v_lease_ms, v_deadline_ms, v_reaped_at, v_run_at, v_queue, v_has_budget, v_is_last_chance
    from "unstuck"."jobs" job,
         lateral (select coalesce(job."stage", v_policy.default_stage, job."type") as name) stage
   where job."id" = p_id and job."status" is not distinct from /*waiting*/'waiting'
     and coalesce(job."run_at", job."created_at") <= now()
     for no key update of job skip locked;
  if not v_has_budget then
    perform "unstuck"."bury_spent"(array[v_id], v_policy);
    return;
  elsif v_id is null then
    return;
  end if;
  if v_is_last_chance then
    if not "unstuck"."is_idle"(p_worker_id) then
      return;
    end if;
    perform "unstuck"."keep_worker"(p_worker_id, array[v_id], true, v_queue, v_lease_id, v_policy);
  end if;
  if v_slots is not null then
    if "unstuck".take_probe_slots(/*attachment*/'native', v_queues[1], array[v_id::text]) = 0 then
      return;
    end if;
  end if;
  return query select * from "unstuck"."grant_leases"(array[v_id], array[v_stage], array[v_lease_ms],
    array[v_deadline_ms], array[v_reaped_at], array[v_run_at], p_worker_id, v_lease_id, v_policy);
end
$$;
