-- Private: announces requeued jobs in the transaction that requeues them: to the dispatcher, if the policy has one, and
-- to the workers by a hint. Jobs with a NULL delay are not requeued.
create or replace function "unstuck".announce_requeued(
  p_policy "unstuck".policies, p_job_ids text[], p_queues text[], p_delays_ms float8[])
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if p_policy.dispatch <> 'off' then
    perform "unstuck".record_dispatches(p_policy, array(
      select id from unnest(p_job_ids, p_delays_ms) requeued(id, delay_ms) where delay_ms is not null));
  end if;
  return "unstuck".send_job_hint(p_policy, p_queues, p_delays_ms);
end
$$;
