-- Counts per minute and hour.

-- name: record_trends
select "unstuck".record_trends(/*attachment*/'native', ($1::text)::jsonb, $2::float8)::numeric as next_ms;

-- name: count_trends
select "unstuck"."count_trends"();

-- name: list_trends
select to_jsonb(trend) as record
  from "unstuck".list_trends(/*attachment*/'native', "unstuck".after_ms(now(), -$1::float8), $2::int, $3::text,
                             $4::text, $5::int) trend;

-- name: sum_trends
select to_jsonb(trend) as record
  from "unstuck".sum_trends(/*attachment*/'native', "unstuck".after_ms(now(), -$1::float8), $2::int, $3::text,
                            $4::text) trend;
