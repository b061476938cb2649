-- Private: announces that these waiting jobs left their groups, given by queue and group. Where groups have an order
-- the next job of each may start now: no result and no other event announces it.
create or replace function "unstuck".hint_next_in_groups(
  p_policy "unstuck".policies, p_queues text[], p_groups text[])
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_queues text[];
begin
  if p_policy.notify = 'off' or cardinality(p_groups) = 0 then
    return false;
  end if;
  select array_agg(gone.queue) into v_queues
    from (select distinct job.queue, job.name from unnest(p_queues, p_groups) job(queue, name)) gone
    join "unstuck".queue_limits known
      on known.attachment = p_policy.attachment and known.queue = gone.queue and known.group_order is not null;
  return "unstuck".send_job_hint(
    p_policy, v_queues, array_fill(0::float8, array[coalesce(cardinality(v_queues), 0)]));
end
$$;
