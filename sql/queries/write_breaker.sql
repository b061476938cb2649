select to_jsonb(breaker) as record from "unstuck".write_breaker($1::text, ($2::text)::jsonb) breaker
