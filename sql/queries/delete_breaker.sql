select "unstuck".delete_breaker($1::text) as outcome
