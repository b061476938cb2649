select id, lease_id::text, answer, reaper_age_ms
  from "unstuck"."heartbeat_jobs"($1::text[]::/*id*/uuid[], $2::text[]::uuid[], $3::bigint, ($4::text)::jsonb)
