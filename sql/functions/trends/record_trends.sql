-- Adds the counts of one process for the minute that contains the moment p_ago_ms ago, by the database's clock.
-- p_counts: an array of up to 1,000 { queue, type, enqueued, completed, failed, rescued, waits, runs }, one for each
-- pair of queue and type; waits and runs count durations in the buckets of trend_bounds. Returns the ms until the next
-- minute begins.
create or replace function "unstuck".record_trends(p_attachment text, p_counts jsonb, p_ago_ms float8 default 0)
returns float8 language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  perform "unstuck".require(coalesce(p_ago_ms between 0 and 3600000, false), 'ago_ms', p_ago_ms::text,
                            'milliseconds from 0 to one hour');
  perform "unstuck".require_trends(p_counts);
  perform "unstuck".add_trends(
    p_attachment, date_trunc('minute', "unstuck".after_ms(v_now, -p_ago_ms)), 'processes', p_counts, false);
  return "unstuck".ms_between(v_now, date_trunc('minute', v_now) + interval '1 minute');
end
$$;

-- Private: checks the counts of record_trends.
create or replace function "unstuck".require_trends(p_counts jsonb)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_wrong jsonb;
begin
  perform "unstuck".require(jsonb_typeof(p_counts) = 'array', 'counts', p_counts::text, 'an array of counts');
  perform "unstuck".require(jsonb_array_length(p_counts) <= 1000, 'counts', jsonb_array_length(p_counts)::text,
                            'at most 1000 pairs of queue and type');
  select entry into v_wrong from jsonb_array_elements(p_counts) entry
   where jsonb_typeof(entry -> 'queue') is distinct from 'string'
      or jsonb_typeof(entry -> 'type') is distinct from 'string'
      or exists (select from unnest(array['enqueued', 'completed', 'failed', 'rescued']) key
                  where (entry -> key)::text !~ '^[0-9]{1,12}$')
      or exists (select from unnest(array['waits', 'runs']) key
                  where (entry -> key)::text !~ '^[[]([0-9]{1,9}(, [0-9]{1,9}){0,24})?]$')
   limit 1;
  return "unstuck".require(v_wrong is null, 'counts', v_wrong::text,
                           'queue, type, whole numbers, and up to 25 buckets of waits and runs');
end
$$;
