select to_jsonb(sweep) as record from "unstuck"."list_sweeps"($1::text::uuid, $2::int) sweep
