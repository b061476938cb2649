select * from "unstuck"."read_observations"()
