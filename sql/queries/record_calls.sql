select to_jsonb(breaker) as record from "unstuck"."record_calls"($1::text, ($2::text)::jsonb) breaker
