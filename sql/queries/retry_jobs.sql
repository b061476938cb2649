select id, outcome
  from "unstuck"."retry_jobs"($1::text[]::/*id*/uuid[], $2::text, $3::int, $4::boolean, $5::text, $6::text)
