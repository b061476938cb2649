-- Private: every running job with the end of its lease, for readers. A row without a lease is judged by the newest of
-- its times if the policy says so; ended_at is NULL if there is nothing to judge by. lease identifies the holder,
-- sign_at its last sign of life; seen_at is the last heartbeat or claim, and without a lease the newest time of the
-- row.
create or replace function "unstuck"."running_jobs"(p_policy "unstuck".policies)
returns table (id /*id*/uuid, worker_id text, stage text, attempt int, failures int, crashes int, timeouts int,
               max_attempts int, heartbeat_at timestamptz, lease_ms bigint, ended_at timestamptz, is_timeout boolean,
               is_cancelled boolean, lease text, sign_at timestamptz, seen_at timestamptz)
language sql stable as $$
  select job."id", job."worker_id"::text, stage.name, job."attempt"::int, job."failures"::int, job."crashes"::int,
         job."timeouts"::int, job."max_attempts"::int, job."heartbeat_at", lease.ms,
         coalesce(/*lease_end*/(job."lease_expires_at"), "unstuck".age_ends_at(
           p_policy, /*age*/(greatest(job."heartbeat_at", job."started_at", job."updated_at")), stage.name,
           lease.ms)),
         coalesce(job."deadline_at" <= now(), false), job."cancel_requested_at" is not null,
         coalesce(job."lease_id"::text, concat_ws('@', job."worker_id", coalesce(job."attempt", 0))),
         coalesce(/*lease_end*/(job."lease_expires_at"),
                  /*age*/(greatest(job."heartbeat_at", job."started_at", job."updated_at"))),
         case when /*lease_end*/(job."lease_expires_at") is not null then job."heartbeat_at"
              else /*age*/(greatest(job."heartbeat_at", job."started_at", job."updated_at")) end
    from "unstuck"."jobs" job,
         lateral (select coalesce(job."stage", p_policy.default_stage, job."type") as name) stage,
         lateral (select "unstuck".stage_lease_ms(p_policy, stage.name, job."expected_duration_ms") as ms) lease
   where job."status" in /*running_words*/('running')
$$;
