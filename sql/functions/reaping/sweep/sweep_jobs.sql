-- One bounded step of a sweep. The first step looks for an outage of the database to wait out; every step reaps a
-- batch; the last one, which for a reaper is one that reaped nothing, also reports rows it cannot judge and records
-- the reaper's heartbeat. No step reads waiting jobs. p_reaper: { reaper_id, last_swept_at, elapsed_ms,
-- failing_for_ms, interval_ms }; NULL for a manual call, which is never held and records p_actor instead of a
-- heartbeat. Nothing is done if anybody swept within interval_ms. Continue with p_cursor = next until that is null. In
-- mode observe the sweep of a reaper records what it would do and touches no job, and a manual call is refused.
create or replace function "unstuck"."sweep_jobs"(
  p_reaper jsonb default null, p_limit int default 1000, p_cursor jsonb default null, p_policy jsonb default null,
  p_actor text default null, p_reason text default null)
returns jsonb language sql as $$
  select "unstuck"."sweep_step"(p_reaper, p_limit, p_cursor, p_policy, p_actor, p_reason, true)::jsonb
$$;
