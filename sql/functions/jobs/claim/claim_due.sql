-- Private: locks the first due jobs of one priority, at most p_shares of each queue and p_limit in all, and grants
-- them a lease in the same statement. A lease never extends past the hard deadline, so a handler that hangs while its
-- process sends heartbeats is reaped then like a dead one (LEASE-8).
-- If a locked job has no budget or a last chance, or if a breaker is half-open (p_slots), it grants nothing and returns
-- what it has locked in "held". The caller decides, and calls again with p_ids, the jobs to grant.
-- p_only: single jobs of these queues, due at p_starts or at the cursors. The caller has locked them, so that no entry
-- of the index after theirs is examined.
-- The update finds rows by their place, which saves a search by key (2 µs a job). A place is unique within a partition
-- only. A row that its team updated after the statement began is locked at its new place and not found there: "locked"
-- counts it, and the caller repeats.
-- In a distributed schema the answer is sorted: the settings of the claim do not reach the node that plans it, so the
-- update may visit rows in any order.
-- "jobs" is JSON with a list for each column: one row per job takes a client three times as long to read. A value that
-- all of them share stands in the place of its list, and fields that few jobs have are in "other": each list of a
-- thousand values takes 0.2 µs a job.
create or replace function "unstuck"."claim_due"(
  p_worker_id text, p_queues text[], p_shares int[], p_limit int, p_priority int, p_types jsonb, p_cursors jsonb,
  p_policy "unstuck".policies, p_lease_ms bigint, p_lease_id uuid, p_skips text[], p_slots jsonb, p_lane int,
  p_starts timestamptz[], p_only /*id*/uuid[], p_ids /*id*/uuid[], p_actor text,
  out locked int, out granted int, out granted_at timestamptz, out jobs text, out held json)
language plpgsql as $$
#variable_conflict use_column
declare
  v_counted int := (p_policy.attempt_counted_at = 'claim')::int; v_stage text := p_policy.default_stage;
  v_lease_ms bigint := coalesce(p_lease_ms, "unstuck".same_lease_ms(p_policy));
  v_deadline_ms bigint := "unstuck".same_deadline_ms(p_policy); v_has_queues boolean := cardinality(p_queues) > 1;
  v_is_same boolean := v_lease_ms + v_deadline_ms is not null; v_has_skips boolean := cardinality(p_skips) > 0;
  v_max_attempts int := p_policy.max_attempts; v_records_all boolean := p_policy.events = 'all'; v_recorded json;
  v_now timestamptz := clock_timestamp(); -- Not now(): a lease granted late in a transaction has its full length.
  v_ends_at timestamptz := case when v_is_same then "unstuck".after_ms(v_now, least(v_lease_ms, v_deadline_ms)) end;
begin
  with due as materialized (
    select job.*, coalesce(v_ends_at, "unstuck".after_ms(v_now, least(job.lease_ms, job.deadline_ms))) as lease_ends_at,
           "unstuck".after_ms(v_now, job.deadline_ms) as deadline_at
      from unnest(p_queues, p_shares, p_starts, p_only) asked(queue, share, start, single), lateral (
      select job.ctid as place, job.tableoid as part, job."id" as id, asked.queue, its.chance,
             job."reaped_at" as reaped_at, /*+distributed its.due_at, */
             coalesce(v_lease_ms, "unstuck".stage_lease_ms(
               p_policy, its.stage, job."expected_duration_ms")) as lease_ms,
             coalesce(v_deadline_ms, "unstuck".attempt_deadline_ms(
               p_policy, its.stage, job."type"::text)) as deadline_ms,
             "unstuck".uncommon_fields(
               asked.queue, v_max_attempts, v_counted, job."type"::text, job."fence", job."attempt", job."stage"::text,
               job."owner"::text, job."failures", job."crashes", job."timeouts", job."max_attempts", job."generation",
               job."run_at", job."started_at", job."expected_duration_ms", job."traceparent"::text, job."reaped_at",
               its.chance) as other
        from "unstuck"."jobs" job, lateral (
               select coalesce(job."run_at", job."created_at") as due_at,
                      coalesce(job."stage", v_stage, job."type") as stage,
                      "unstuck"."chance_of"(p_policy, job."attempt", job."failures", job."crashes", job."timeouts",
                                            job."max_attempts", job."expires_at") as chance) its
       where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = asked.queue
         and job."priority" = p_priority and (job."group_key" is not null)::int = p_lane
         and its.due_at <= now() and (its.due_at, job."id"::/*id*/uuid) >= (
               coalesce(asked.start, (p_cursors -> asked.queue ->> p_priority::text)::timestamptz, '-infinity'),
               coalesce(asked.single, /*lowest_id*/'00000000-0000-0000-0000-000000000000'))
         and (p_types is null or p_types ? job."type"::text) and (asked.single is null or job."id" = asked.single)
         and (v_has_skips and its.chance = any (p_skips)) is not true and (p_ids is null or job."id" = any (p_ids))
       order by its.due_at, job."id" limit least(asked.share, (p_slots ->> asked.queue)::int)
         for no key update of job skip locked) job
     where p_ids is null or asked.single is null or asked.single = any (p_ids) limit p_limit),
  granted as (
    update "unstuck"."jobs" job
       set "status" = /*running*/'running', "worker_id" = p_worker_id, "lease_id" = p_lease_id, "heartbeat_at" = v_now,
           "fence" = coalesce(job."fence", 0) + 1, "attempt" = coalesce(job."attempt", 0) + v_counted, "run_at" = null,
           "lease_expires_at" = due.lease_ends_at, "deadline_at" = due.deadline_at, "reaped_at" = null,
           "started_at" = coalesce(job."started_at", v_now), "last_attempt_at" = v_now, "updated_at" = v_now,
           "progress_value" = null, "progress_text" = null
      from due
     where job.ctid = due.place and job.tableoid = due.part and (
           p_ids is not null or p_slots is null and not exists (select from due where chance is not null))
    returning job."id" as id, due.queue, job."type"::text as type, job."payload"::jsonb as payload,
              job."fence"::bigint as fence, job."attempt"::int as attempt, job."created_at" as created_at,
              due.lease_ms, due.deadline_ms, due.other, due.reaped_at /*+distributed , due.due_at */)
  select (select count(*) from due), count(*), v_now,
         json_build_object('id', json_agg(id), 'payload', json_agg(payload), 'fence', 1, 'attempt', v_counted,
           'created_at', json_agg(extract(epoch from created_at) * 1000::numeric), 'other', json_agg(other),
           'queue', coalesce(json_agg(queue) filter (where v_has_queues), to_json(p_queues[1])),
           'lease_ms', coalesce(json_agg(lease_ms) filter (where not v_is_same), to_json(v_lease_ms)),
           'deadline_ms', coalesce(json_agg(deadline_ms) filter (where not v_is_same), to_json(v_deadline_ms))),
         json_agg(json_build_object('id', id, 'type', type, 'attempt', attempt, 'fence', fence, 'other', other))
           filter (where reaped_at is not null or v_records_all),
         case when count(*) = 0 then (
           select json_agg(json_build_object('id', id, 'queue', queue, 'chance', chance)) from due) end
    into locked, granted, granted_at, jobs, v_recorded, held
    from /*+distributed (select * from granted order by due_at, id) */ granted;
  if v_recorded is not null then
    perform "unstuck"."record_grants"(v_now, p_worker_id, p_lease_id, v_stage, p_actor, v_recorded);
  end if;
end
$$;

