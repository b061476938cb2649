-- Changes that people make to single jobs, causes and the policy.

-- name: cancel_jobs
select id, outcome from "unstuck"."cancel_jobs"($1::text[]::/*id*/uuid[], $2::text, $3::text, $4::text, $5::int);

-- name: retry_jobs
select id, outcome
  from "unstuck"."retry_jobs"($1::text[]::/*id*/uuid[], $2::text, $3::int, $4::boolean, $5::text, $6::text);

-- name: run_jobs_now
select id, outcome from "unstuck"."run_jobs_now"($1::text[]::/*id*/uuid[], $2::text, $3::text, $4::text, $5::int);

-- name: discard_jobs
select id, outcome from "unstuck"."discard_jobs"($1::text[]::/*id*/uuid[], $2::text, $3::text, $4::text, $5::int);

-- name: mark_cause
select "unstuck".mark_cause(/*attachment*/'native', $1::text, $2::text, $3::text, $4::text) as state;

-- name: write_policy
select "unstuck".write_policy(/*attachment*/'native', ($1::text)::jsonb) as policy;
