-- All facts that decide whether and when a job runs, on the database's clock: durations from now, negative if past.
-- NULL if there is no such job. A job that waits, or is past its lease, is locked for a moment to see whether it can
-- be.
create or replace function "unstuck"."explain_job"(p_id /*id*/uuid, p_policy jsonb default null)
returns jsonb language plpgsql as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_facts jsonb; v_queue text; v_group text; v_type text; v_is_waiting boolean; v_is_running boolean;
  v_worker_id text;
  v_sign_at timestamptz; v_ended_at timestamptz; v_lease jsonb;
begin
  perform "unstuck".require(p_id is not null, 'id', p_id::text, 'the id of a job');
  select jsonb_build_object(
           'id', job."id"::text, 'type', job."type", 'queue', coalesce(job."queue", job."type"), 'status', job."status",
           'stage', coalesce(job."stage", v_policy.default_stage, job."type"), 'attempt', coalesce(job."attempt", 0),
           'failures', coalesce(job."failures", 0), 'crashes', coalesce(job."crashes", 0),
           'timeouts', coalesce(job."timeouts", 0), 'releases', coalesce(job."releases", 0),
           'is_released_often', "unstuck".is_released_often(job."releases", job."started_at", now()),
           'is_last_chance', waiting.is_so and "unstuck".is_last_chance(
             v_policy, job."attempt", job."failures", job."crashes", job."timeouts", job."max_attempts"),
           'kept_worker_id', (select kept.worker_id from "unstuck".kept_workers kept
                               where kept.attachment = /*attachment*/'native' and kept.job_id = job."id"::text
                                 and kept.lease_id is null
                                 and kept.seen_at > "unstuck".after_ms(now(), -"unstuck".reservation_ms())
                               order by kept.seen_at desc limit 1),
           'max_attempts', coalesce(job."max_attempts", v_policy.max_attempts), 'worker_id', job."worker_id",
           'error_code', job."error_code", 'error_reason', job."error_reason", 'error_category', job."error_category",
           'is_cancel_asked', job."cancel_requested_at" is not null,
           'has_budget', /*judged_waiting*/("unstuck".has_budget(
             v_policy, job."attempt", job."failures", job."crashes", job."timeouts", job."max_attempts")),
           'progress_value', job."progress_value"::numeric, 'progress_text', job."progress_text",
           'expires_in_ms', "unstuck".ms_between(now(), job."expires_at"),
           'run_in_ms', case when waiting.is_so
             then "unstuck".ms_between(now(), coalesce(job."run_at", job."created_at")) end,
           'deadline_left_ms', "unstuck".ms_between(now(), job."deadline_at"),
           'ended_ago_ms', "unstuck".ms_between(job."finished_at", now()),
           'reaper_age_ms', (select "unstuck".ms_between(last.swept_at, now()) from "unstuck".sweeps last
                              where last.attachment = /*attachment*/'native'),
           'sweep_interval_ms', v_policy.sweep_interval_ms, 'is_observed', v_policy.is_observed,
           'last_event', (select jsonb_build_object('type', event.type, 'details', event.data -> 'details',
                                                    'ago_ms', "unstuck".ms_between(event.at, now()))
                            from "unstuck".events event
                           where event.attachment = /*attachment*/'native' and event.job_id = job."id"::text
                           order by event.id desc limit 1)),
         coalesce(job."queue", job."type"), job."group_key", job."type", waiting.is_so,
         job."status" in /*running_words*/('running'),
         job."worker_id", greatest(job."heartbeat_at", job."started_at"),
         jsonb_build_object('silent_ms', "unstuck".ms_between(job."heartbeat_at", now()))
    into v_facts, v_queue, v_group, v_type, v_is_waiting, v_is_running, v_worker_id, v_sign_at, v_lease
    from "unstuck"."jobs" job,
         lateral (select job."status" = /*waiting*/'waiting' as is_so) waiting
   where job."id" = p_id;
  if v_is_running then
    select held.ended_at, v_lease || jsonb_build_object('held_for_ms', held.for_ms) into v_ended_at, v_lease
      from "unstuck"."held_lease"(v_policy, p_id) held;
  end if;
  -- Functions that read other tables, each on its own: Citus runs none of them as part of a statement.
  v_facts := v_facts || "unstuck".cancel_facts(/*attachment*/'native', p_id::text)
    || case when v_is_running then v_lease else jsonb_build_object('silent_ms', null) end
    || jsonb_build_object('lease_left_ms', "unstuck".ms_between(now(), v_ended_at),
                          'ahead', case when v_is_waiting then "unstuck"."jobs_ahead"(p_id) end);
  if v_is_waiting then
    v_facts := v_facts || "unstuck".queue_facts(/*attachment*/'native', v_queue)
                       || "unstuck"."limit_facts"(v_queue, v_group)
                       || "unstuck".worker_facts(/*attachment*/'native', v_type, v_queue,
                                                 "unstuck"."leases_by_worker"());
  elsif v_ended_at >= now() then
    v_facts := v_facts || coalesce("unstuck".absence_facts(
      v_policy, /*attachment*/'native', v_worker_id, v_sign_at), '{}');
  end if;
  if v_is_waiting or v_ended_at < now() then
    v_facts := v_facts || "unstuck"."job_lock"(p_id);
  end if;
  return v_facts;
end
$$;
