-- Private: over how long a mass of reaped jobs comes back, at the policy's rate; NULL where they come back at once.
-- At most the year that reap_jobs takes, however low the rate.
create or replace function "unstuck".spread_ms(p_policy "unstuck".policies, p_jobs bigint)
returns float8 language sql immutable
return case when p_policy.requeue_rate_per_s > 0 then least(
    1000 * least(p_jobs, 31536000 * p_policy.requeue_rate_per_s) / p_policy.requeue_rate_per_s, 31536000000) end;
