-- Private: adds counts to the rows of a minute and of its hour. p_counts: { queue, type, enqueued, completed, failed,
-- rescued, waits, runs }. Rows are written in the order of their keys, so that two writers do not deadlock.
create or replace function "unstuck".add_trends(
  p_attachment text, p_minute timestamptz, p_source text, p_counts jsonb, p_is_bounded boolean)
returns int language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_written int;
begin
  insert into "unstuck".trends as known
    (attachment, span_min, at, queue, type, source, enqueued, completed, failed, rescued, waits, runs, is_bounded)
  select p_attachment, span.minutes, date_trunc(span.unit, p_minute), counted.queue, counted.type, p_source,
         sum(coalesce(counted.enqueued, 0)), sum(coalesce(counted.completed, 0)), sum(coalesce(counted.failed, 0)),
         sum(coalesce(counted.rescued, 0)), coalesce(max(counted.waits), '{}'), coalesce(max(counted.runs), '{}'),
         p_is_bounded
    from jsonb_to_recordset(p_counts) counted(
           queue text, type text, enqueued bigint, completed bigint, failed bigint, rescued bigint, waits int[],
           runs int[]),
         (values (1, 'minute'), (60, 'hour')) span(minutes, unit)
   group by span.minutes, span.unit, counted.queue, counted.type
   order by span.minutes, counted.queue, counted.type
  on conflict (attachment, span_min, at, queue, type, source) do update
     set enqueued = known.enqueued + excluded.enqueued, completed = known.completed + excluded.completed,
         failed = known.failed + excluded.failed, rescued = known.rescued + excluded.rescued,
         waits = "unstuck".add_counts(known.waits, excluded.waits),
         runs = "unstuck".add_counts(known.runs, excluded.runs),
         is_bounded = known.is_bounded or excluded.is_bounded;
  get diagnostics v_written = row_count;
  return v_written;
end
$$;
