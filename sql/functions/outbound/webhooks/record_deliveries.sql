-- Private: records events for every active webhook that subscribes to them, in the transaction of the events: a
-- rollback sends nothing, and a commit loses nothing (C22). Payloads, results and stacks are left out.
create or replace function "unstuck".record_deliveries(
  p_attachment text, p_table text, p_at timestamptz, p_events "unstuck".new_event[])
returns int language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_count int;
begin
  insert into "unstuck".deliveries (attachment, id, webhook_id, job_id, event, next_try_at, created_at)
  select p_attachment, "unstuck".uuid_v7(), webhook.id, event.job_id,
         jsonb_build_object(
           'type', event.type, 'timestamp', "unstuck".iso_utc(p_at),
           'data', jsonb_build_object('job_id', event.job_id, 'table', p_table,
                                      'details', coalesce(event.details, '{}') - '{payload,result,stack}'::text[])),
         p_at, p_at
    from unnest(p_events) event, "unstuck".webhooks webhook
   where webhook.attachment = p_attachment and webhook.is_active
     and (webhook.events = '{}' or event.type = any (webhook.events));
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
