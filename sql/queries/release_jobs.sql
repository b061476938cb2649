select id, outcome, retry_in_ms
  from "unstuck"."release_jobs"($1::text[]::/*id*/uuid[], $2::text[]::uuid[], $3::bigint, $4::text, $5::float8,
                                $6::text, $7::text)
