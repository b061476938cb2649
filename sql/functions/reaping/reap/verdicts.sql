-- Private: when a running row without a lease counts as dead, by the newest of its times. NULL if the policy has no
-- age rule for it: none at all, or only for stages with their own lease (REAP-8).
create or replace function "unstuck".age_ends_at(
  p_policy "unstuck".policies, p_seen_at timestamptz, p_stage text, p_lease_ms bigint)
returns timestamptz language sql stable
return case when p_policy.legacy_age_rule
               and (p_policy.legacy_age_stages = 'all' or p_policy.stage_leases_ms ? p_stage)
              then "unstuck".after_ms(p_seen_at, p_lease_ms) end;

-- Private: did a lease end in an outage of the database without a renewal since? Its worker gets one more lease of
-- time to come back before the job counts as abandoned (C9). False without an outage.
create or replace function "unstuck".is_held(
  p_outage_from timestamptz, p_outage_to timestamptz, p_ended_at timestamptz, p_heartbeat_at timestamptz,
  p_lease_ms bigint)
returns boolean language sql stable
return coalesce(p_ended_at >= p_outage_from and p_heartbeat_at <= p_outage_to
                  and now() < "unstuck".after_ms(p_outage_to, p_lease_ms), false);

-- Private: requeued, dead or cancelled.
create or replace function "unstuck".reap_verdict(
  p_policy "unstuck".policies, p_is_cancelled boolean, p_is_timeout boolean,
  p_attempt int, p_failures int, p_crashes int, p_timeouts int, p_max_attempts int)
returns text language sql immutable
return case
           when p_is_cancelled then 'cancelled'
           when "unstuck".is_reap_final(
                  p_policy, p_is_timeout, p_attempt, p_failures, p_crashes, p_timeouts, p_max_attempts) then 'dead'
           else 'requeued'
         end;

-- Private: is a job with an expired lease out of budget, by these counts (REAP-2, FAIL-5)? A job that goes back to
-- waiting must be claimable, even if a limit was lowered while it ran.
create or replace function "unstuck".is_reap_final(
  p_policy "unstuck".policies, p_is_timeout boolean, p_attempt int, p_failures int, p_crashes int, p_timeouts int,
  p_max_attempts int)
returns boolean language sql immutable
return (p_policy.reap_budget = 'attempts'
          and "unstuck".spent_attempts(
                p_policy, p_attempt, p_failures, coalesce(p_crashes, 0) + (not p_is_timeout)::int,
                coalesce(p_timeouts, 0) + p_is_timeout::int) >= coalesce(p_max_attempts, p_policy.max_attempts))
      or not "unstuck".has_budget(
           p_policy, "unstuck".reaped_attempt(p_policy, 'requeued', p_attempt, p_max_attempts), p_failures,
           coalesce(p_crashes, 0) + (not p_is_timeout)::int, coalesce(p_timeouts, 0) + p_is_timeout::int,
           p_max_attempts);

-- Private: the attempt count after a reap: only a requeue may raise it, at most to the maximum.
create or replace function "unstuck".reaped_attempt(
  p_policy "unstuck".policies, p_action text, p_attempt int, p_max_attempts int)
returns int language sql immutable
return coalesce(p_attempt, 0) + case
    when p_action = 'requeued' and p_policy.attempt_counted_at = 'failure-and-reap'
     and coalesce(p_attempt, 0) < coalesce(p_max_attempts, p_policy.max_attempts) then 1
    else 0
  end;

-- Private: the text for the team's own error column, in the words of its profile.
create or replace function "unstuck"."reap_error"(p_action text, p_lease_ms bigint, p_worker_id text, p_attempt int)
returns text language sql immutable
return replace(replace(replace(
           case p_action when 'requeued' then /*requeued_text*/'lease_expired'
                         when 'dead' then /*dead_text*/'lease_expired' else 'cancelled' end,
           '{lease_min}', trim_scale(round(p_lease_ms / 60000.0, 1))::text),
           '{worker_id}', coalesce(p_worker_id, 'unknown')),
           '{attempt}', coalesce(p_attempt, 0)::text);

-- Private: the cause of a reap, as an operator counts them.
create or replace function "unstuck".reap_cause(p_reason text)
returns text language sql immutable
return case p_reason when 'deadline_exceeded' then 'timeout' when 'worker_gone' then 'worker-gone' else 'crash' end;

-- Private: why a job was reaped. A lease that has not ended was taken from a worker that is gone.
create or replace function "unstuck".reap_reason(p_is_timeout boolean, p_is_gone boolean)
returns text language sql immutable
return case when p_is_timeout then 'deadline_exceeded' when p_is_gone then 'worker_gone' else 'lease_expired' end;
