-- Expected duration times the stage's factor, never under the stage's floor; unknown stages get the default (LEASE-3).
create or replace function "unstuck".stage_lease_ms(
  p_policy "unstuck".policies, p_stage text, p_expected_duration_ms numeric)
returns bigint language sql immutable
return greatest(
    coalesce((p_policy.stage_leases_ms ->> p_stage)::numeric, p_policy.default_lease_ms),
    ceil(coalesce(p_expected_duration_ms * (p_policy.stage_factors ->> p_stage)::numeric, 0)))::bigint;

-- Private: the lease of every job where no stage has one of its own; NULL otherwise.
create or replace function "unstuck".same_lease_ms(p_policy "unstuck".policies)
returns bigint language sql immutable
return case when p_policy.stage_leases_ms = '{}' and p_policy.stage_factors = '{}' then p_policy.default_lease_ms end;
