-- Enables or disables a webhook, including one disabled because its receiver was gone. Returns its new status; no row
-- if there is none.
create or replace function "unstuck".switch_webhook(
  p_attachment text, p_id uuid, p_is_active boolean, p_actor text default null, p_reason text default null)
returns setof "unstuck".webhook_status language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".require(p_is_active is not null, 'is_active', null, 'true or false');
  update "unstuck".webhooks
     set is_active = p_is_active,
         inactive_reason = case when not p_is_active then left(coalesce(p_reason, 'switched off'), 1000) end
   where attachment = p_attachment and id = p_id and is_active <> p_is_active;
  if found then
    perform "unstuck".record_audit_entry(
      p_attachment, case when p_is_active then 'webhook-enabled' else 'webhook-disabled' end, p_id::text, p_actor,
      p_reason);
  end if;
  return query select * from "unstuck".list_webhooks(p_attachment, p_id);
end
$$;
