-- Private: notifies listening workers of jobs of these queues that are due now or become due after these delays. NULL
-- delays are ignored; p_counts says how many jobs an entry stands for. Default: one. The payload is
-- { "seed": number, "jobs": [[queue, count, delay, …], …] }: no delay means now, and without a queue the jobs are of
-- any. By the seed each worker finds its turn, so that one job does not wake a fleet. It is the same throughout a
-- transaction: PostgreSQL then sends equal hints once.
-- Delays in milliseconds are rounded up to tenths of a second, or to a hundredth of the time that they span. Jobs that
-- are due in over ten minutes are left to polling: by then the workers may be others.
create or replace function "unstuck".send_job_hint(
  p_policy "unstuck".policies, p_queues text[], p_delays_ms float8[], p_counts int[] default null)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_jobs text;
begin
  if p_policy.notify = 'off' or p_queues is null then
    return false;
  end if;
  if cardinality(p_queues) = 1 and p_delays_ms[1] <= 0 then
    -- Most enqueues: it spares 80 µs.
    v_jobs := format('[[%s, %s]]', to_json(p_queues[1]), coalesce(p_counts[1], 1));
  else
    v_jobs := "unstuck".hinted_jobs(p_queues, p_delays_ms, p_counts);
  end if;
  -- A payload has less than 8,000 bytes.
  if octet_length(v_jobs) > 7900 then
    v_jobs := "unstuck".hinted_jobs(array_fill(null::text, array[cardinality(p_queues)]), p_delays_ms, p_counts);
  end if;
  perform pg_notify("unstuck".hint_channel(p_policy.attachment),
                    format('{"seed": %s, "jobs": %s}', txid_current() % 2147483648, v_jobs)) where v_jobs is not null;
  return v_jobs is not null;
end
$$;

-- Private: the jobs of a hint, by queue. NULL if none is due soon.
create or replace function "unstuck".hinted_jobs(p_queues text[], p_delays_ms float8[], p_counts int[])
returns text language sql stable set search_path = pg_catalog, pg_temp as $$
  with soon as (
    select queue, coalesce(count, 1) as count, greatest(delay_ms, 0) as delay_ms
      from unnest(p_queues, p_delays_ms, p_counts) hinted(queue, delay_ms, count) where delay_ms <= 600000
  ), slot as (
    select greatest(100, ceil((max(delay_ms) - min(delay_ms)) / 100)) as ms from soon
  )
  select jsonb_agg(jsonb_build_array(queue, jobs) || case when delays = '[0]' then '[]' else delays end)::text
    from (select queue, sum(count) as jobs, jsonb_agg(due_ms order by due_ms) filter (where is_first) as delays
            from (select queue, count, due_ms, row_number() over (partition by queue, due_ms) = 1 as is_first
                    from soon, slot, lateral (select (ceil(delay_ms / slot.ms) * slot.ms)::bigint as due_ms) due) due
           group by queue) by_queue
$$;
