-- Ends a webhook. What was not sent yet is not sent any more. False where there was none.
create or replace function "unstuck".remove_webhook(p_attachment text, p_id uuid)
returns boolean language plpgsql as $$
begin
  delete from "unstuck".webhooks where attachment = p_attachment and id = p_id;
  if not found then
    return false;
  end if;
  delete from "unstuck".deliveries where attachment = p_attachment and webhook_id = p_id and status = 'waiting';
  return true;
end
$$;
