select * from "unstuck"."list_workers"()
