-- Removes a webhook and its pending deliveries. Returns false if there was none. Deliveries are locked before
-- webhooks, as in settle_delivery.
create or replace function "unstuck".remove_webhook(
  p_attachment text, p_id uuid, p_actor text default null, p_reason text default null)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from "unstuck".deliveries where attachment = p_attachment and webhook_id = p_id and status = 'waiting';
  delete from "unstuck".webhooks where attachment = p_attachment and id = p_id;
  if not found then
    return false;
  end if;
  perform "unstuck".record_audit_entry(p_attachment, 'webhook-removed', p_id::text, p_actor, p_reason);
  return true;
end
$$;
