select id, outcome from "unstuck"."enqueue_jobs"(($1::text)::jsonb, ($2::text)::jsonb)
