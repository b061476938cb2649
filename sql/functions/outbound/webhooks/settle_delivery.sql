-- Records the outcome of a delivery attempt: delivered, retried after a wait, failed after the tenth try, or lost if
-- another took it since (p_tries is the count returned by take_deliveries). A receiver that is gone for good
-- (p_is_gone) disables its webhook.
create or replace function "unstuck".settle_delivery(
  p_attachment text, p_id uuid, p_tries int, p_is_delivered boolean, p_status int default null,
  p_error text default null, p_is_gone boolean default false)
returns text language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_steps_ms bigint[] := '{5000,30000,120000,600000,1800000,3600000,10800000,21600000,43200000}';
  v_outcome text := case when p_is_delivered then 'delivered'
                         when p_is_gone or p_tries > cardinality(v_steps_ms) then 'failed' else 'retried' end;
  v_next_try_at timestamptz := case when v_outcome = 'retried' then "unstuck".after_ms(
    v_now, "unstuck".backoff_ms(v_steps_ms, 0, 0, 0, p_tries, 0)) end;
  v_webhook_id uuid;
begin
  perform "unstuck".require(p_is_delivered is not null, 'is_delivered', null, 'true or false');
  update "unstuck".deliveries
     set status = case when v_outcome = 'retried' then 'waiting' else v_outcome end, last_status = p_status,
         last_error = left(p_error, 1000), delivered_at = case when p_is_delivered then v_now end,
         next_try_at = coalesce(v_next_try_at, next_try_at)
   where attachment = p_attachment and id = p_id and tries = p_tries and status = 'waiting'
  returning webhook_id into v_webhook_id;
  if v_webhook_id is null then
    return 'lost';
  end if;
  if p_is_gone and not p_is_delivered then
    update "unstuck".webhooks set is_active = false, inactive_reason = left(p_error, 1000) where id = v_webhook_id;
  end if;
  return v_outcome;
end
$$;
