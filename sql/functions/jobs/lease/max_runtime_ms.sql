-- Maximum duration of one attempt of this type over all its stages; NULL if off (LEASE-11).
create or replace function "unstuck".max_runtime_ms(p_policy "unstuck".policies, p_type text)
returns bigint language sql immutable
return nullif(coalesce((p_policy.type_runtimes_ms ->> p_type)::numeric, p_policy.max_runtime_ms), 0)::bigint;

-- Private: how long an attempt that begins in this stage may take. In PL/pgSQL, so that claims do not inline it: few
-- tables have deadlines by stage or type.
create or replace function "unstuck".attempt_deadline_ms(p_policy "unstuck".policies, p_stage text, p_type text)
returns bigint language plpgsql immutable as $$
begin
  return least("unstuck".stage_deadline_ms(p_policy, p_stage), "unstuck".max_runtime_ms(p_policy, p_type));
end
$$;
