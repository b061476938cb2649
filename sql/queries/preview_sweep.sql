select * from "unstuck"."preview_sweep"($1::int, ($2::text)::jsonb)
