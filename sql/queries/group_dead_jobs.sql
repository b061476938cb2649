select to_jsonb(cause) as record from "unstuck"."group_dead_jobs"($1::int, $2::text) cause
