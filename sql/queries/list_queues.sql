select * from "unstuck"."list_queues"()
