select to_jsonb(status) as record from "unstuck"."list_queues"() status
