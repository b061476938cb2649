-- Breakers, paused queues and rate limits.

-- name: map_dependency
select "unstuck"."map_dependency"($1::text, $2::text) as is_changed;

-- name: write_breaker
select to_jsonb(breaker) as record from "unstuck".write_breaker($1::text, ($2::text)::jsonb) breaker;

-- name: record_calls
select to_jsonb(breaker) as record from "unstuck"."record_calls"($1::text, ($2::text)::jsonb) breaker;

-- name: record_probe
select to_jsonb(breaker) as record from "unstuck".record_probe($1::text, $2::boolean) breaker;

-- name: hold_breaker
select to_jsonb(breaker) as record from "unstuck".hold_breaker($1::text, $2::bigint, $3::text, $4::text) breaker;

-- name: resume_breaker
select to_jsonb(breaker) as record from "unstuck".resume_breaker($1::text, $2::text, $3::text) breaker;

-- name: delete_breaker
select "unstuck".delete_breaker($1::text) as outcome;

-- name: list_breakers
select to_jsonb(breaker) as record from "unstuck".list_breakers() breaker;

-- name: pause_queue
select "unstuck"."pause_queue"($1::text, $2::bigint, $3::text, $4::text) as is_new;

-- name: resume_queue
select "unstuck"."resume_queue"($1::text, $2::text, $3::text) as was_paused;

-- name: limit_queue
select "unstuck"."limit_queue"($1::text, $2::int, $3::int, $4::text, $5::text, $6::text) as is_changed;

-- name: list_queues
select to_jsonb(status) as record from "unstuck"."list_queues"($1::text[], $2::int) status;

-- name: take_tokens
select granted, retry_in_ms::numeric from "unstuck".take_tokens(($1::text)::jsonb, $2::int);

-- name: list_rate_limits
select to_jsonb(bucket) as record from "unstuck".list_rate_limits($1::text, $2::int) bucket;

-- name: prune_rate_limits
select "unstuck".prune_rate_limits($1::int) as deleted;
