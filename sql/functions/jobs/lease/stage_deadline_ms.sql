-- The hard deadline of a stage, counted from its start; NULL if off (LEASE-8).
create or replace function "unstuck".stage_deadline_ms(p_policy "unstuck".policies, p_stage text)
returns bigint language sql immutable
return nullif(coalesce((p_policy.stage_deadlines_ms ->> p_stage)::numeric, p_policy.default_deadline_ms), 0)::bigint;

-- Private: the deadline of every claim if no stage and no type has its own; else NULL.
create or replace function "unstuck".same_deadline_ms(p_policy "unstuck".policies)
returns bigint language sql immutable
return case when p_policy.stage_deadlines_ms = '{}' and p_policy.type_runtimes_ms = '{}'
              then least(nullif(p_policy.default_deadline_ms, 0), nullif(p_policy.max_runtime_ms, 0)) end;
