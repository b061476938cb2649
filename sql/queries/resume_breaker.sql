select to_jsonb(breaker) as record from "unstuck".resume_breaker($1::text, $2::text, $3::text) breaker
