select * from "unstuck"."read_slo"($1::bigint, $2::bigint, ($3::text)::jsonb)
