-- One job with every logical column, whatever the team calls them.
create or replace function "unstuck"."job_record"(p_id /*id*/uuid)
returns jsonb language sql stable as $$
  select jsonb_build_object(
      'id', job."id"::text, 'type', job."type", 'queue', coalesce(job."queue", job."type"), 'payload', job."payload",
      'priority', job."priority", 'status', job."status", 'owner', job."owner", 'dedupe_key', job."dedupe_key",
      'stage', job."stage", 'expected_duration_ms', job."expected_duration_ms", 'attempt', coalesce(job."attempt", 0),
      'failures', coalesce(job."failures", 0), 'crashes', coalesce(job."crashes", 0),
      'timeouts', coalesce(job."timeouts", 0), 'releases', coalesce(job."releases", 0),
      'interruptions', coalesce(job."interruptions", 0), 'max_attempts', job."max_attempts",
      'generation', coalesce(job."generation", 1))
    || jsonb_build_object(
      'created_at', job."created_at", 'updated_at', job."updated_at", 'queued_at', job."queued_at",
      'run_at', job."run_at", 'started_at', job."started_at", 'finished_at', job."finished_at",
      'last_attempt_at', job."last_attempt_at",
      'worker_id', job."worker_id", 'lease_id', job."lease_id", 'lease_expires_at', job."lease_expires_at",
      'heartbeat_at', job."heartbeat_at", 'deadline_at', job."deadline_at", 'fence', coalesce(job."fence", 0)::text,
      'finished_lease_id', job."finished_lease_id", 'cancel_requested_at', job."cancel_requested_at",
      'reaped_at', job."reaped_at",
      'error_code', job."error_code", 'error_reason', job."error_reason", 'error_category', job."error_category",
      'error_stack', job."error_stack", 'error_attempt', job."error_attempt",
      'result', job."result", 'traceparent', job."traceparent", 'backoff_steps_ms', job."backoff_steps_ms",
      'expires_at', job."expires_at", 'progress_value', job."progress_value"::numeric,
      'progress_text', job."progress_text", 'group', job."group_key")
    from "unstuck"."jobs" job where job."id" = p_id
$$;

-- Private: a job as shown in lists, with durations on the database's clock; no stack, and payload and result on
-- request only.
create or replace function "unstuck"."job_summary"(p_id /*id*/uuid, p_with_payload boolean)
returns jsonb language plpgsql stable as $$
declare
  v_facts jsonb := (
    select jsonb_build_object(
             'cause_id', case when job."status" = /*dead*/'dead' and (
                 /*tells_cancelled*/(true) or job."error_code"::text is distinct from 'cancelled')
               then "unstuck".cause_id(job."error_code", job."error_reason") end,
             'lease_left_ms', "unstuck".ms_between(now(), job."lease_expires_at"))
      from "unstuck"."jobs" job where job."id" = p_id);
begin
  return "unstuck"."job_record"(p_id)
         - case when p_with_payload then array['error_stack'] else array['error_stack', 'payload', 'result'] end
      || v_facts;
end
$$;
