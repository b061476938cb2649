-- A job from enqueue to outcome, as applications and workers drive it.

-- name: enqueue_batch
select "unstuck"."enqueue_batch"(
  ($1::text)::jsonb, ($2::text)::jsonb, ($3::text)::jsonb, ($4::text)::jsonb)::text as enqueued;

-- name: claim_jobs
select lease_id, priority, max_attempts, default_stage, to_json(granted_at) as granted_at, jobs
  from "unstuck"."claim_batches"($1::text, $2::text[], $3::int, $4::text[], $5::bigint, ($6::text)::jsonb, $7::text,
                                 ($8::text)::jsonb, null, $9::boolean);

-- name: has_due_jobs
select "unstuck"."has_due_jobs"($1::text[]) as is_due;

-- name: claim_job
select lease_id, priority, max_attempts, default_stage, to_json(granted_at) as granted_at, jobs
  from "unstuck"."claim_batches"($2::text, "unstuck"."queue_of"($1::/*id*/uuid), 1, null, $3::bigint,
                                 ($4::text)::jsonb, null, null, $1::/*id*/uuid);

-- name: heartbeat_jobs
-- A lost heartbeat is repeated, so its commit need not wait for the disk. The setting is made here and not in the
-- function, which may run inside a transaction of the caller whose other writes must stay durable.
with commit_setting as materialized (select set_config('synchronous_commit', 'off', true))
select answer.id, answer.lease_id::text, answer.answer, answer.reaper_age_ms::numeric
  from commit_setting,
       "unstuck"."heartbeat_jobs"($1::text[]::/*id*/uuid[], $2::text[]::uuid[], $3::bigint, ($4::text)::jsonb) answer;

-- name: enter_stage
select outcome, lease_ms::bigint, deadline_ms::bigint
  from "unstuck"."enter_stage"($1::text::/*id*/uuid, $2::text::uuid, $3::text, ($4::text)::jsonb);

-- name: report_progress
-- The next report replaces a lost one, so its commit need not wait for the disk.
with commit_setting as materialized (select set_config('synchronous_commit', 'off', true))
select report.is_kept
  from commit_setting,
       "unstuck"."report_progress"($1::text[]::/*id*/uuid[], $2::text[]::uuid[], $3::text[]::float8[], $4::text[])
         report;

-- name: complete_jobs
select place::int, outcome
  from "unstuck"."complete_batch"($1::text[]::/*id*/uuid[], $2::text[]::uuid[], $3::text[], $4::text,
                                  ($5::text)::jsonb) with ordinality answer(id, outcome, retry_in_ms, place)
 where outcome <> 'completed';

-- name: fail_jobs
select id, outcome, retry_in_ms::numeric from "unstuck"."fail_jobs"(($1::text)::jsonb, ($2::text)::jsonb, $3::text);

-- name: release_jobs
select id, outcome, retry_in_ms
  from "unstuck"."release_jobs"($1::text[]::/*id*/uuid[], $2::text[]::uuid[], $3::bigint, $4::text, $5::float8,
                                $6::text, $7::text);

-- name: record_late_result
select "unstuck"."record_late_result"($1::text::/*id*/uuid, $2::text::uuid, ($3::text)::jsonb) as is_recorded;
