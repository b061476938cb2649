-- A lost heartbeat is sent again, so its commit does not wait for the disk. Here and not in the function: this call is
-- a transaction of its own, while the function may stand in a caller's, whose other writes must stay as safe as ever.
with commit_setting as materialized (select set_config('synchronous_commit', 'off', true))
select beat.id, beat.lease_id::text, beat.answer, beat.reaper_age_ms::numeric
  from commit_setting,
       "unstuck"."heartbeat_jobs"($1::text[]::/*id*/uuid[], $2::text[]::uuid[], $3::bigint, ($4::text)::jsonb) beat
