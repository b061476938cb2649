-- Private: when a running row without a lease counts as dead, by the newest of its times. NULL where the policy does
-- not judge it: by age not at all, or only those whose stage has a lease of its own (REAP-8).
create or replace function "unstuck".age_ends_at(
  p_policy "unstuck".policies, p_seen_at timestamptz, p_stage text, p_lease_ms bigint)
returns timestamptz language sql stable
return case when p_policy.legacy_age_rule
               and (p_policy.legacy_age_stages = 'all' or p_policy.stage_leases_ms ? p_stage)
              then "unstuck".after_ms(p_seen_at, p_lease_ms) end;
