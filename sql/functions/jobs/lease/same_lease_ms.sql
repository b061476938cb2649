-- Private: the lease of every job where no stage has one of its own; NULL otherwise.
create or replace function "unstuck".same_lease_ms(p_policy "unstuck".policies)
returns bigint language sql immutable
return case when p_policy.stage_leases_ms = '{}' and p_policy.stage_factors = '{}' then p_policy.default_lease_ms end;
