-- Takes due deliveries for p_lease_ms. Those not settled by then are taken again. Deliveries of removed or disabled
-- webhooks fail.
create or replace function "unstuck".take_deliveries(
  p_attachment text, p_limit int default 10, p_lease_ms bigint default 60000)
returns table (delivery_id text, webhook_id text, url text, secret text, event jsonb, tries int) language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_ids uuid[];
begin
  perform "unstuck".require(p_limit between 1 and 1000, 'limit', p_limit::text, 'a whole number from 1 to 1000');
  perform "unstuck".require(p_lease_ms between 1 and 31536000000, 'lease_ms', p_lease_ms::text,
                            'milliseconds from 1 to one year');
  v_ids := array(select due.id from "unstuck".deliveries due
                  where due.attachment = p_attachment and due.status = 'waiting' and due.next_try_at <= now()
                  order by due.next_try_at limit p_limit
                    for no key update skip locked);
  update "unstuck".deliveries due
     set status = 'failed', last_error = 'the webhook is not active'
   where due.attachment = p_attachment and due.id = any (v_ids)
     and not exists (select from "unstuck".webhooks webhook where webhook.id = due.webhook_id and webhook.is_active);
  return query
  with taken as (
    update "unstuck".deliveries due
       set tries = due.tries + 1, next_try_at = "unstuck".after_ms(v_now, p_lease_ms)
     where due.attachment = p_attachment and due.id = any (v_ids) and due.status = 'waiting'
    returning due.id, due.webhook_id, due.event, due.tries
  )
  select taken.id::text, taken.webhook_id::text, webhook.url, webhook.secret, taken.event, taken.tries
    from taken join "unstuck".webhooks webhook on webhook.id = taken.webhook_id
   order by taken.id;
end
$$;
