select * from "unstuck"."record_calls"($1::text, ($2::text)::jsonb)
