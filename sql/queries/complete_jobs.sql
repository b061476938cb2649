select id, outcome
  from "unstuck"."complete_jobs"($1::text[]::/*id*/uuid[], $2::text[]::uuid[], $3::text[], $4::text)
