-- Private: sends the hint of an enqueue, from its input: see enqueue_batch.
create or replace function "unstuck".hint_new_jobs(
  p_policy "unstuck".policies, p_shared jsonb, p_jobs jsonb, p_count int, p_now timestamptz)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_queues text[] := array[coalesce(p_shared ->> 'queue', p_shared ->> 'type')];
  v_delays_ms float8[] := array[coalesce("unstuck".ms_between(p_now, "unstuck".due_at(p_shared, p_now)), 0)];
  v_counts int[] := array[p_count];
begin
  if p_jobs is not null and p_policy.notify <> 'off' then
    select array_agg(queue), array_agg(delay_ms), array_agg(count) into v_queues, v_delays_ms, v_counts
      from (select coalesce(job ->> 'queue', p_shared ->> 'queue', job ->> 'type', p_shared ->> 'type') as queue,
                   coalesce("unstuck".ms_between(p_now, "unstuck".due_at(job, p_now)), v_delays_ms[1]) as delay_ms,
                   count(*)::int as count
              from jsonb_array_elements(p_jobs) job
             group by 1, 2) due;
  end if;
  return "unstuck".send_job_hint(p_policy, v_queues, v_delays_ms, v_counts);
end
$$;
