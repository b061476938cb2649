select dispatch_id::text, job_id, tries, type, queue, attempt, run_in_ms::numeric
  from "unstuck"."take_dispatches"($1::int, $2::bigint)
