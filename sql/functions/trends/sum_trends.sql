-- The sums of list_trends by queue and type over all its rows, the busiest first; at is the first of them. Percentiles
-- are those of all durations together.
create or replace function "unstuck".sum_trends(
  p_attachment text, p_from timestamptz, p_span_min int default 60, p_queue text default null, p_type text default null,
  p_limit int default 10000)
returns table (at timestamptz, queue text, type text, enqueued bigint, completed bigint, failed bigint, rescued bigint,
               wait_p50_ms float8, wait_p95_ms float8, run_p50_ms float8, run_p95_ms float8, is_bounded boolean)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return query
  with span as materialized (
    select * from "unstuck".trend_spans(p_attachment, p_from, p_span_min, p_queue, p_type, p_limit)
  ), bucket as (
    select span.queue, span.type, counted.nth, sum(counted.waits)::int as waits, sum(counted.runs)::int as runs
      from span, unnest(span.waits, span.runs) with ordinality counted(waits, runs, nth)
     group by span.queue, span.type, counted.nth
  ), durations as (
    select bucket.queue, bucket.type, array_agg(coalesce(bucket.waits, 0) order by bucket.nth) as waits,
           array_agg(coalesce(bucket.runs, 0) order by bucket.nth) as runs
      from bucket group by bucket.queue, bucket.type
  )
  select min(span.at), span.queue, span.type, sum(span.enqueued)::bigint, sum(span.completed)::bigint,
         sum(span.failed)::bigint, sum(span.rescued)::bigint,
         "unstuck".duration_at(durations.waits, 0.5), "unstuck".duration_at(durations.waits, 0.95),
         "unstuck".duration_at(durations.runs, 0.5), "unstuck".duration_at(durations.runs, 0.95),
         bool_or(span.is_bounded)
    from span left join durations on (durations.queue, durations.type) = (span.queue, span.type)
   group by span.queue, span.type, durations.waits, durations.runs
   order by sum(span.completed + span.failed) desc, span.queue, span.type;
end
$$;
