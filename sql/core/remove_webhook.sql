-- Ends a webhook. What was not sent yet is not sent any more. False where there was none. Deliveries before webhooks:
-- settle_delivery locks them in that order.
create or replace function "unstuck".remove_webhook(p_attachment text, p_id uuid)
returns boolean language plpgsql as $$
begin
  delete from "unstuck".deliveries where attachment = p_attachment and webhook_id = p_id and status = 'waiting';
  delete from "unstuck".webhooks where attachment = p_attachment and id = p_id;
  return found;
end
$$;
