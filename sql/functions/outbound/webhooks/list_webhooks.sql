-- The webhooks of a table, or one of them, oldest first. waiting counts pending deliveries.
create or replace function "unstuck".list_webhooks(p_attachment text, p_id uuid default null)
returns setof "unstuck".webhook_status language sql stable set search_path = pg_catalog, pg_temp as $$
  select webhook.id::text, webhook.url, webhook.events, webhook.is_active, webhook.inactive_reason, webhook.created_at,
         webhook.created_by,
         (select count(*) from "unstuck".deliveries delivery
           where delivery.attachment = p_attachment and delivery.status = 'waiting'
             and delivery.webhook_id = webhook.id)::int
    from "unstuck".webhooks webhook
   where webhook.attachment = p_attachment and (p_id is null or webhook.id = p_id)
   order by webhook.id
$$;
