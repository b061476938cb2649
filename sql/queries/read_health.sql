select * from "unstuck"."read_health"(($1::text)::jsonb)
