-- How long one attempt of a job of this type may run over all its stages; NULL where that is switched off (LEASE-11).
create or replace function "unstuck".max_runtime_ms(p_policy "unstuck".policies, p_type text)
returns bigint language sql immutable
return nullif(coalesce((p_policy.type_runtimes_ms ->> p_type)::numeric, p_policy.max_runtime_ms), 0)::bigint;
