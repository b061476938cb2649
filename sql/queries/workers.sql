-- Worker reports and drain requests.

-- name: report_worker
select "unstuck".report_worker(/*attachment*/'native', ($1::text)::jsonb) as is_drain_requested;

-- name: list_workers
select to_jsonb(worker) as record from "unstuck"."list_workers"() worker;

-- name: drain_worker
select "unstuck".drain_worker(/*attachment*/'native', $1::text, $2::text, $3::text) as outcome;
