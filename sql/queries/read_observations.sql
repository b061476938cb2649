select to_jsonb(seen) as record from "unstuck"."read_observations"() seen
