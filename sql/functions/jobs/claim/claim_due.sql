-- Private: locks the first due jobs of one priority, at most p_shares of each queue and p_limit in all, and grants
-- them a lease in the same statement. A lease never extends past the hard deadline, so a handler that hangs while its
-- process sends heartbeats is reaped then like a dead one (LEASE-8).
-- If a locked job has no budget or a last chance, or if a breaker is half-open (p_slots), it grants nothing and the
-- caller decides: it calls again with p_ids, the jobs to grant, and p_is_decided. "held" are the locked jobs, "spent"
-- those without budget or past their expiry.
-- The update finds rows by their place, which saves a search by key (2 µs a job). A place is unique within a partition
-- only. A row that its team updated after the statement began is locked at its new place and not found there: "locked"
-- counts it, and the caller repeats.
-- In a distributed schema the answer is sorted: the settings of the claim do not reach the node that plans it, so the
-- update may visit rows in any order.
-- "jobs" is JSON with a list for each column: one row per job takes a client three times as long to read. A value that
-- all of them share stands in the place of its list, and fields that few jobs have are in "other": each list of a
-- thousand values takes 0.2 µs a job.
create or replace function "unstuck"."claim_due"(
  p_worker_id text, p_queues text[], p_shares int[], p_limit int, p_priority int, p_types text[], p_cursors jsonb,
  p_policy "unstuck".policies, p_lease_ms bigint, p_lease_id uuid, p_takes_any boolean, p_takes_spent boolean,
  p_slots jsonb, p_from_id /*id*/uuid, p_ids /*id*/uuid[], p_is_decided boolean, p_actor text,
  out locked int, out granted int, out granted_at timestamptz, out jobs text,
  out held /*id*/uuid[], out held_queues text[], out spent /*id*/uuid[])
language plpgsql as $$
#variable_conflict use_column
declare
  v_counted int := (p_policy.attempt_counted_at = 'claim')::int; v_stage text := p_policy.default_stage;
  v_lease_ms bigint := coalesce(p_lease_ms, "unstuck".same_lease_ms(p_policy));
  v_deadline_ms bigint := "unstuck".same_deadline_ms(p_policy);
  v_is_same boolean := v_lease_ms + v_deadline_ms is not null; v_has_queues boolean := cardinality(p_queues) > 1;
  v_max_attempts int := p_policy.max_attempts; v_records_all boolean := p_policy.events = 'all'; v_recorded json;
  v_now timestamptz := clock_timestamp(); -- Not now(): a lease granted late in a transaction has its full length.
begin
  with due as materialized (
    select job.*, "unstuck".after_ms(v_now, least(job.lease_ms, job.deadline_ms)) as lease_ends_at,
           "unstuck".after_ms(v_now, job.deadline_ms) as deadline_at
      from unnest(p_queues, p_shares) asked(queue, share), lateral (
             select job.ctid as place, job.tableoid as part, job."id" as id, asked.queue, chance.*,
                    job."reaped_at" as reaped_at, /*+distributed coalesce(job."run_at", job."created_at") as due_at, */
                    coalesce(v_lease_ms, "unstuck".stage_lease_ms(
                      p_policy, coalesce(job."stage", v_stage, job."type"), job."expected_duration_ms")) as lease_ms,
                    coalesce(v_deadline_ms, "unstuck".attempt_deadline_ms(
                      p_policy, coalesce(job."stage", v_stage, job."type"), job."type"::text)) as deadline_ms,
                    case when num_nonnulls(nullif(job."type"::text, asked.queue), nullif(job."fence", 0), nullif(
                           job."attempt", 0), job."stage", job."owner", job."failures", job."crashes", job."timeouts",
                           nullif(job."max_attempts", v_max_attempts), nullif(job."generation", 1), job."run_at",
                           job."started_at", job."expected_duration_ms", job."traceparent", job."reaped_at") > 0 then
                      "unstuck".uncommon_fields(
                        job."type"::text, coalesce(job."fence", 0) + 1, coalesce(job."attempt", 0) + v_counted,
                        job."stage"::text, job."owner"::text, job."failures", job."crashes", job."timeouts",
                        job."max_attempts", job."generation", job."run_at", job."started_at",
                        job."expected_duration_ms", job."traceparent"::text, job."reaped_at", is_last) end as other
               from "unstuck"."jobs" job,
                    lateral (select /*judged_waiting*/("unstuck".has_budget(p_policy, job."attempt", job."failures",
                               job."crashes", job."timeouts", job."max_attempts"))
                               and (job."expires_at" is null or job."expires_at" > now()) as has_budget,
                             job."crashes" > 0 and "unstuck".is_last_chance(p_policy, job."attempt", job."failures",
                               job."crashes", job."timeouts", job."max_attempts") as is_last) chance
              where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = asked.queue
                and job."priority" = p_priority and coalesce(job."run_at", job."created_at") <= now()
                and (coalesce(job."run_at", job."created_at"), job."id"::/*id*/uuid) >= (
                      coalesce((p_cursors -> asked.queue ->> p_priority::text)::timestamptz, '-infinity'),
                      coalesce(p_from_id, /*lowest_id*/'00000000-0000-0000-0000-000000000000'))
                and (p_types is null or job."type"::text = any (p_types)) and (p_takes_spent or has_budget)
                and (p_takes_any or is_last is not true) and (p_ids is null or job."id" = any (p_ids))
              order by coalesce(job."run_at", job."created_at"), job."id" limit least(asked.share, (
                p_slots ->> asked.queue)::int) for no key update of job skip locked) job limit p_limit),
  granted as (
    update "unstuck"."jobs" job
       set "status" = /*running*/'running', "worker_id" = p_worker_id, "lease_id" = p_lease_id, "heartbeat_at" = v_now,
           "fence" = coalesce(job."fence", 0) + 1, "attempt" = coalesce(job."attempt", 0) + v_counted,
           "lease_expires_at" = due.lease_ends_at, "deadline_at" = due.deadline_at, "run_at" = null, "reaped_at" = null,
           "started_at" = coalesce(job."started_at", v_now), "last_attempt_at" = v_now, "updated_at" = v_now
      from due
     where job.ctid = due.place and job.tableoid = due.part and (p_is_decided
           or p_slots is null and not exists (select from due where not has_budget or is_last))
    returning job."id" as id, due.queue, job."type"::text as type, job."payload"::jsonb as payload,
              job."fence"::bigint as fence, job."attempt"::int as attempt, job."created_at" as created_at,
              due.lease_ms, due.deadline_ms, due.other, due.reaped_at /*+distributed , due.due_at */)
  select (select count(*) from due), count(*), v_now,
         json_build_object('id', json_agg(id), 'payload', json_agg(payload), 'fence', 1, 'attempt', v_counted,
           'created_at', json_agg(created_at), 'other', json_agg(other),
           'queue', coalesce(json_agg(queue) filter (where v_has_queues), to_json(p_queues[1])),
           'lease_ms', coalesce(json_agg(lease_ms) filter (where not v_is_same), to_json(v_lease_ms)),
           'deadline_ms', coalesce(json_agg(deadline_ms) filter (where not v_is_same), to_json(v_deadline_ms))),
         json_agg(json_build_object('id', id, 'type', type, 'attempt', attempt, 'fence', fence, 'other', other))
           filter (where reaped_at is not null or v_records_all),
         case when count(*) = 0 then (select array_agg(id) from due) end,
         case when count(*) = 0 then (select array_agg(queue) from due) end,
         case when count(*) = 0 then (select array_agg(id) from due where not has_budget) end
    into locked, granted, granted_at, jobs, v_recorded, held, held_queues, spent
    from /*+distributed (select * from granted order by due_at, id) */ granted;
  perform "unstuck"."record_grants"(v_now, p_worker_id, p_lease_id, v_stage, p_actor, v_recorded)
    where v_recorded is not null;
end
$$;

-- Private: the fields of a claimed job that few jobs have.
create or replace function "unstuck".uncommon_fields(
  p_type text, p_fence bigint, p_attempt int, p_stage text, p_owner text, p_failures int, p_crashes int, p_timeouts int,
  p_max_attempts int, p_generation int, p_run_at timestamptz, p_started_at timestamptz, p_expected_duration_ms float8,
  p_traceparent text, p_reaped_at timestamptz, p_is_last boolean)
returns json language plpgsql stable as $$
begin
  return json_build_object(
    'type', p_type, 'fence', p_fence, 'attempt', p_attempt, 'stage', p_stage, 'owner', p_owner, 'failures', p_failures,
    'crashes', p_crashes, 'timeouts', p_timeouts, 'max_attempts', p_max_attempts, 'generation', p_generation,
    'run_at', p_run_at, 'started_at', p_started_at, 'expected_duration_ms', p_expected_duration_ms,
    'traceparent', p_traceparent, 'reaped_at', p_reaped_at, 'runs_alone', p_is_last);
end
$$;
