-- Jobs to publish to another queue.

-- name: take_dispatches
select dispatch_id::text, job_id, tries, type, queue, attempt, run_in_ms::numeric
  from "unstuck"."take_dispatches"($1::int, $2::bigint);

-- name: finish_dispatches
select "unstuck".finish_dispatches(/*attachment*/'native', $1::text[], $2::text[]::uuid[]) as finished;

-- name: fail_dispatches
select "unstuck".fail_dispatches(
         /*attachment*/'native', $1::text[], $2::text[]::uuid[], $3::int[], $4::text) as failed;

-- name: count_dispatches
select "unstuck".count_dispatches(/*attachment*/'native') as waiting;
