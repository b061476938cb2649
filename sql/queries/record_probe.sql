select to_jsonb(breaker) as record from "unstuck".record_probe($1::text, $2::boolean) breaker
