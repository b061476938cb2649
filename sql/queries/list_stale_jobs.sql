select to_jsonb(stale) as record from "unstuck"."list_stale_jobs"($1::boolean, $2::int, ($3::text)::jsonb) stale
