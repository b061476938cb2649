-- Private: every running job with the moment its lease ends or ended, for those who only look. A row without a lease is
-- judged by the newest of its times where the policy says so; ended_at is NULL where there is nothing to judge it by.
create or replace function "unstuck"."running_jobs"(p_policy "unstuck".policies)
returns table (id /*id*/uuid, worker_id text, stage text, attempt int, crashes int, timeouts int, max_attempts int,
               heartbeat_at timestamptz, lease_ms bigint, ended_at timestamptz, is_timeout boolean,
               is_cancelled boolean)
language sql stable as $$
  select job."id", job."worker_id"::text, stage.name, job."attempt"::int, job."crashes"::int, job."timeouts"::int,
         job."max_attempts"::int,
         job."heartbeat_at", stage.lease_ms,
         coalesce(job."lease_expires_at", case when p_policy.legacy_age_rule then "unstuck".after_ms(
           /*age*/(greatest(job."heartbeat_at", job."started_at", job."updated_at")), stage.lease_ms) end),
         coalesce(job."deadline_at" <= now(), false), job."cancel_requested_at" is not null
    from "unstuck"."jobs" job,
         lateral (select name, "unstuck".stage_lease_ms(p_policy, name, job."expected_duration_ms") as lease_ms
                    from coalesce(job."stage", p_policy.default_stage, job."type") name) stage
   where job."status" in /*running_words*/('running')
$$;
