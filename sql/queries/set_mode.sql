select to_jsonb(status) as record from "unstuck"."set_mode"($1::text, $2::text) status
