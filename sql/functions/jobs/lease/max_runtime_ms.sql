-- Maximum duration of one attempt of this type over all its stages; NULL if off (LEASE-11).
create or replace function "unstuck".max_runtime_ms(p_policy "unstuck".policies, p_type text)
returns bigint language sql immutable
return nullif(coalesce((p_policy.type_runtimes_ms ->> p_type)::numeric, p_policy.max_runtime_ms), 0)::bigint;
