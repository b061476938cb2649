select to_jsonb(breaker) as record from "unstuck".list_breakers() breaker
