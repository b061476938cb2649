select to_jsonb(worker) as record from "unstuck"."list_workers"() worker
