select id, outcome, retry_in_ms::numeric from "unstuck"."fail_jobs"(($1::text)::jsonb, ($2::text)::jsonb, $3::text)
