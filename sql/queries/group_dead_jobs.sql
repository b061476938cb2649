select cause_id, code, category, jobs, "unstuck".iso_utc(first_at) as first_at, "unstuck".iso_utc(last_at) as last_at,
       example_reason, example_id, max_crashes, is_complete, state, changed_at, changed_by, state_reason, back_since
  from "unstuck"."group_dead_jobs"($1::int, $2::text)
