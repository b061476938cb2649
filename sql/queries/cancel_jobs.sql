select id, outcome from "unstuck"."cancel_jobs"($1::text[]::/*id*/uuid[], $2::text, $3::text, $4::text, $5::int)
