-- Counts per minute or hour, queue and type, from p_from on: the larger of what processes reported and what was
-- counted from the rows. p_span_min: 1 or 60. At most p_limit rows, the newest first. Percentiles are the upper bounds
-- of buckets (1, 2, 5, 10, … ms). is_bounded: there was more than the count from the rows reads.
create or replace function "unstuck".list_trends(
  p_attachment text, p_from timestamptz, p_span_min int default 60, p_queue text default null, p_type text default null,
  p_limit int default 1000)
returns table (at timestamptz, queue text, type text, enqueued bigint, completed bigint, failed bigint, rescued bigint,
               wait_p50_ms float8, wait_p95_ms float8, run_p50_ms float8, run_p95_ms float8, is_bounded boolean)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return query
  select span.at, span.queue, span.type, span.enqueued, span.completed, span.failed, span.rescued,
         "unstuck".duration_at(span.waits, 0.5), "unstuck".duration_at(span.waits, 0.95),
         "unstuck".duration_at(span.runs, 0.5), "unstuck".duration_at(span.runs, 0.95), span.is_bounded
    from "unstuck".trend_spans(p_attachment, p_from, p_span_min, p_queue, p_type, p_limit) span
   order by span.at desc;
end
$$;
