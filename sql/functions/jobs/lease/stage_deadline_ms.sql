-- The hard deadline of a stage, counted from where it begins; NULL where it is switched off (LEASE-8).
create or replace function "unstuck".stage_deadline_ms(p_policy "unstuck".policies, p_stage text)
returns bigint language sql immutable
return nullif(coalesce((p_policy.stage_deadlines_ms ->> p_stage)::numeric, p_policy.default_deadline_ms), 0)::bigint;
