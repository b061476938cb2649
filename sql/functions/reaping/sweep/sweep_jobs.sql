-- One bounded step of a sweep. The first step looks for an outage of the database to wait out; every step reaps a
-- batch; the last one, which for a reaper is one that reaped nothing, also reports what it cannot judge and leaves the
-- reaper's pulse. No step reads waiting jobs.
-- p_reaper: { reaper_id, last_swept_at, elapsed_ms, failing_for_ms }; NULL for a call by hand, which is never held and
-- leaves no pulse, but the name of p_actor. Goes on with p_cursor = the answer's next, until that is null. In mode
-- observe the sweep of a reaper notes what it would do and touches no job, and a call by hand is refused.
create or replace function "unstuck"."sweep_jobs"(
  p_reaper jsonb default null, p_limit int default 1000, p_cursor jsonb default null, p_policy jsonb default null,
  p_actor text default null, p_reason text default null)
returns jsonb language sql as $$
  select "unstuck"."sweep_step"(p_reaper, p_limit, p_cursor, p_policy, p_actor, p_reason, true)::jsonb
$$;
