select id from "unstuck"."find_job_ids"($1::text, $2::int)
