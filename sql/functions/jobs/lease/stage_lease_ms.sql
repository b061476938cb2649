-- Expected duration times the factor of the stage, at least the lease of the stage; the default lease for other stages
-- (LEASE-3).
create or replace function "unstuck".stage_lease_ms(
  p_policy "unstuck".policies, p_stage text, p_expected_duration_ms numeric)
returns bigint language sql immutable
return greatest(
    coalesce((p_policy.stage_leases_ms ->> p_stage)::numeric, p_policy.default_lease_ms),
    ceil(coalesce(p_expected_duration_ms * (p_policy.stage_factors ->> p_stage)::numeric, 0)))::bigint;

-- Private: the lease of every job if no stage has its own; else NULL.
create or replace function "unstuck".same_lease_ms(p_policy "unstuck".policies)
returns bigint language sql immutable
return case when p_policy.stage_leases_ms = '{}' and p_policy.stage_factors = '{}' then p_policy.default_lease_ms end;
