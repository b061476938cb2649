-- Private: the newest p_limit spans, with the durations as counts of buckets. Processes count pairs beyond their first
-- hundred as queue and type *: what the rows name of them is taken off it, not to count it twice.
create or replace function "unstuck".trend_spans(
  p_attachment text, p_from timestamptz, p_span_min int, p_queue text, p_type text, p_limit int)
returns table (at timestamptz, queue text, type text, enqueued bigint, completed bigint, failed bigint, rescued bigint,
               waits int[], runs int[], is_bounded boolean)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".require(p_from is not null, 'from', null, 'a time');
  perform "unstuck".require(p_span_min in (1, 60), 'span_min', p_span_min::text, '1 or 60');
  perform "unstuck".require(p_limit between 1 and 10000, 'limit', p_limit::text, 'a whole number from 1 to 10000');
  return query
  select span.at, span.queue, span.type, greatest(0, span.enqueued - named.enqueued),
         greatest(0, span.completed - named.completed), greatest(0, span.failed - named.failed), span.rescued,
         span.waits, span.runs, span.is_bounded
    from (select trend.at, trend.queue, trend.type, max(trend.enqueued) as enqueued, max(trend.completed) as completed,
                 max(trend.failed) as failed, max(trend.rescued) as rescued, bool_or(trend.is_bounded) as is_bounded,
                 -- Rows do not show how long a job waited.
                 max(trend.waits) filter (where trend.source <> 'rows') as waits,
                 "unstuck".larger_counts(max(trend.runs) filter (where trend.source = 'rows'),
                                         max(trend.runs) filter (where trend.source <> 'rows')) as runs
            from "unstuck".trends trend
           where trend.attachment = p_attachment and trend.span_min = p_span_min and trend.at >= p_from
             and trend.queue = coalesce(p_queue, trend.queue) and trend.type = coalesce(p_type, trend.type)
           group by trend.at, trend.queue, trend.type order by trend.at desc limit p_limit) span,
         lateral (select coalesce(sum(greatest(0, found.enqueued - coalesce(told.enqueued, 0))), 0)::bigint,
                         coalesce(sum(greatest(0, found.completed - coalesce(told.completed, 0))), 0)::bigint,
                         coalesce(sum(greatest(0, found.failed - coalesce(told.failed, 0))), 0)::bigint
                    from "unstuck".trends found
                    left join "unstuck".trends told
                      on (told.attachment, told.span_min, told.at, told.queue, told.type, told.source)
                       = (found.attachment, found.span_min, found.at, found.queue, found.type, 'processes')
                   where span.queue = '*' and span.type = '*' and found.attachment = p_attachment
                     and found.span_min = p_span_min and found.at = span.at and found.source = 'rows'
                 ) named(enqueued, completed, failed);
end
$$;
