select * from "unstuck".record_probe($1::text, $2::boolean)
