-- Sends a delivery again at once, with all its tries, whatever its state. The receiver sees the same id. Returns due,
-- inactive (its webhook is disabled or removed) or not-found.
create or replace function "unstuck".redeliver(p_attachment text, p_id uuid)
returns text language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_webhook_id uuid;
begin
  select webhook_id into v_webhook_id from "unstuck".deliveries
   where attachment = p_attachment and id = p_id for no key update;
  if not found then
    return 'not-found';
  elsif not exists (select from "unstuck".webhooks where id = v_webhook_id and is_active) then
    return 'inactive';
  end if;
  update "unstuck".deliveries
     set status = 'waiting', tries = 0, next_try_at = v_now, delivered_at = null
   where attachment = p_attachment and id = p_id;
  return 'due';
end
$$;
