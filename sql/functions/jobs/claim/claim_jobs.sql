-- Claims up to p_limit due jobs by priority, then due time, then id; it never reads lease columns. It goes through
-- "jobs_ready" priority by priority and queue by queue, bounded by the due time, so it never scans jobs in backoff,
-- jobs of other queues, or jobs of paused queues and open breakers. The limit applies after the lock and every
-- condition: skipped jobs do not count.
-- p_cursors, { queue: { priority: time } }, skips jobs that were due before the time. A worker passes the times that
-- its last claims reached, and now and then none, so that no job is skipped for long.
-- A job without budget is ended by the claim that meets it (C10), so no sweep has to search for it. The claim then
-- repeats that priority; after a hundred such jobs it skips the rest.
-- A job whose next crash would end it goes to an idle worker, which gets no other job meanwhile (REAP-15). A worker
-- that is reserved for such a job leaves its slots empty until it is idle.
-- The array of reap times also shows which jobs crashed before: another array made a claim 10 µs slower.
create or replace function "unstuck"."claim_jobs"(
  p_worker_id text, p_queues text[], p_limit int,
  p_types text[] default null, p_lease_ms bigint default null, p_policy jsonb default null, p_actor text default null,
  p_cursors jsonb default null)
returns setof "unstuck".claimed_job language plpgsql set plan_cache_mode = force_generic_plan
set enable_seqscan = off as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_lease_id uuid := gen_random_uuid(); v_queues text[] := p_queues; v_slots jsonb;
  v_left int := p_limit; v_priority int := -2147483648; v_queue text; v_share int;
  v_lease_ms bigint := coalesce(p_lease_ms, "unstuck".same_lease_ms(v_policy));
  v_deadline_ms bigint := "unstuck".same_deadline_ms(v_policy);
  v_due record; v_buried int := 0; v_takes_any boolean := true; v_is_alone boolean;
begin
  perform "unstuck".require_claims(p_worker_id, p_queues, p_limit, p_types, p_lease_ms, p_cursors);
  perform "unstuck".require_acting(/*attachment*/'native') where v_policy.is_observed;
  if "unstuck".has_queue_rules(/*attachment*/'native') then
    select * into v_queues, v_slots from "unstuck".open_queues(/*attachment*/'native', p_queues);
    if "unstuck"."kept_job"(p_worker_id) is not null then
      return query select * from "unstuck"."claim_kept"(p_worker_id, v_queues, p_types, p_lease_ms, p_policy); return;
    end if;
  end if;
  while v_left > 0 loop
    v_priority := "unstuck"."claim_level"(v_queues, v_priority, p_cursors);
    exit when v_priority is null;
    for v_queue, v_share in select * from "unstuck"."claim_shares"(
      v_queues, v_priority, v_left, p_types, v_policy, p_cursors, v_takes_any) loop
      exit when v_left = 0;
      select array_agg(due.id) as ids, array_agg(due.stage) as stages, array_agg(due.lease_ms) as leases_ms,
             array_agg(due.deadline_ms) as deadlines_ms, array_agg(due.reaped) as reaped_at,
             array_agg(due.run_at) as run_at, array_agg(due.id) filter (where not due.has_budget) as spent
        into v_due
        from (select job."id" as id, stage.name as stage,
                     coalesce(v_lease_ms, "unstuck".stage_lease_ms(
                       v_policy, stage.name, job."expected_duration_ms")) as lease_ms,
                     coalesce(v_deadline_ms, least("unstuck".stage_deadline_ms(v_policy, stage.name),
                       "unstuck".max_runtime_ms(v_policy, job."type"::text))) as deadline_ms,
                     coalesce(job."reaped_at", case when job."crashes" > 0 then '-infinity'::timestamptz end) as reaped,
                     job."run_at" as run_at, budget.is_left as has_budget
                from "unstuck"."jobs" job,
                     lateral (select coalesce(job."stage", v_policy.default_stage, job."type") as name) stage,
                     lateral (select /*judged_waiting*/("unstuck".has_budget(v_policy, job."attempt", job."failures",
                       job."crashes", job."timeouts", job."max_attempts")) as is_left) budget
               where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = v_queue
                 and job."priority" = v_priority
                 and coalesce(job."run_at", job."created_at")
                       between coalesce((p_cursors -> v_queue ->> v_priority::text)::timestamptz, '-infinity') and now()
                 and (p_types is null or job."type"::text = any (p_types))
                 and (v_buried < 100 or budget.is_left)
                 and (v_takes_any or not "unstuck".is_last_chance(v_policy, job."attempt", job."failures",
                                           job."crashes", job."timeouts", job."max_attempts"))
               order by coalesce(job."run_at", job."created_at"), job."id"
               limit least(v_share, v_left, (v_slots ->> v_queue)::int) for no key update of job skip locked) due;
      if v_due.spent is not null then
        perform "unstuck"."bury_spent"(v_due.spent, v_policy);
        v_buried := v_buried + cardinality(v_due.spent); v_priority := v_priority - 1; exit;
      elsif v_takes_any and cardinality(array_remove(v_due.reaped_at, null)) > 0 then
        v_is_alone := "unstuck"."keep_worker"(p_worker_id, v_due.ids, v_left = p_limit, v_queue, v_lease_id, v_policy);
        if v_is_alone then v_due.ids := v_due.ids[1:1]; v_left := 1;
        elsif not v_is_alone then -- Repeats this priority without such jobs, unless reserved for one.
          if "unstuck"."kept_job"(p_worker_id) is not null then return; end if;
          v_takes_any := false; v_priority := v_priority - 1; exit;
        end if;
      end if;
      if v_slots ? v_queue and v_due.ids is not null then
        v_due.ids := v_due.ids[1:"unstuck".take_probe_slots(/*attachment*/'native', v_queue, v_due.ids::text[])];
      end if;
      if cardinality(v_due.ids) > 0 then
        v_left := v_left - cardinality(v_due.ids);
        return query select * from "unstuck"."grant_leases"(v_due.ids, v_due.stages, v_due.leases_ms,
          v_due.deadlines_ms, array_replace(v_due.reaped_at, '-infinity', null), v_due.run_at, p_worker_id, v_lease_id,
          v_policy, p_actor);
      end if;
    end loop;
  end loop;
end
$$;
