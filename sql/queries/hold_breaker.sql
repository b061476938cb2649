select to_jsonb(breaker) as record from "unstuck".hold_breaker($1::text, $2::bigint, $3::text, $4::text) breaker
