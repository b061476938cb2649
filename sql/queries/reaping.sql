-- Sweeps, retention and the history of rescues.

-- name: sweep_jobs
select "unstuck"."sweep_step"(
         ($1::text)::jsonb, $2::int, ($3::text)::jsonb, ($4::text)::jsonb, $5::text, $6::text, true) as step;

-- name: preview_sweep
select * from "unstuck"."preview_sweep"($1::int, ($2::text)::jsonb);

-- name: prune_jobs
select deleted, next from "unstuck"."prune_jobs"($1::int, $2::int, $3::text::timestamptz);

-- name: list_reclaims
select "unstuck"."list_reclaims"($1::text, $2::text, $3::text::bigint, $4::int) as page;

-- name: list_stale_jobs
select to_jsonb(stale) as record from "unstuck"."list_stale_jobs"($1::boolean, $2::int, ($3::text)::jsonb) stale;

-- name: list_sweeps
select to_jsonb(sweep) as record from "unstuck"."list_sweeps"($1::text::uuid, $2::int) sweep;

-- name: read_last_sweep
select reaper_id, "unstuck".iso_utc(swept_at) as swept_at, duration_ms::numeric, found, requeued, dead, cancelled,
       skipped, held
  from "unstuck".sweeps where attachment = /*attachment*/'native' and sweeps.swept_at is not null;
