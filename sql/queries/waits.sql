-- Waits for the end of jobs.

-- name: read_ends
select ended as record from "unstuck"."read_ends"($1::text[]::/*id*/uuid[]) ended;

-- name: read_progress
select reported as record from "unstuck"."read_progress"($1::text[]::/*id*/uuid[]) reported;

-- name: begin_waits
select "unstuck".begin_waits(/*attachment*/'native', $1::text[], $2::int, $3::bigint) as begun;

-- name: end_waits
select "unstuck".end_waits(/*attachment*/'native', $1::text[], $2::int) as has_ended;

-- name: listen_to_waits
select "unstuck".listen_to_waits(/*attachment*/'native') as channel, pg_backend_pid() as backend_pid;

-- name: test_waits
select true as is_sent from pg_notify("unstuck".hint_channel(/*attachment*/'native' || '.waits'), $1::text);
