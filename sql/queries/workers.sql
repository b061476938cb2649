-- Worker reports and drain requests.

-- name: report_worker
select "unstuck".report_worker(/*attachment*/'native', ($1::text)::jsonb) as is_drain_requested, state.*,
       "unstuck".hinted_workers(/*attachment*/'native') as hinted_workers,
       "unstuck".has_webhooks(/*attachment*/'native') as has_webhooks
  from "unstuck".sweep_state(/*attachment*/'native', $2::bigint) state;

-- name: list_workers
select to_jsonb(worker) as record from "unstuck"."list_workers"() worker;

-- name: drain_worker
select "unstuck".drain_worker(/*attachment*/'native', $1::text, $2::text, $3::text) as outcome;

-- name: prepare_presence
select "unstuck".prepare_presence($1::bigint);

-- name: take_presence
select "unstuck".take_presence(/*attachment*/'native', $1::text, $2::int, $3::bigint);

-- name: show_life
select "unstuck".show_life(/*attachment*/'native', $1::text);

-- name: leave_presence
select "unstuck".leave_presence(/*attachment*/'native', $1::text);

-- name: watch_workers
select "unstuck".watch_workers(/*attachment*/'native') as is_watching;

-- name: look_at_workers
select newly_gone, watchers from "unstuck".look_at_workers(/*attachment*/'native');

-- name: count_watchers
select "unstuck".watchers(/*attachment*/'native') as watchers;
