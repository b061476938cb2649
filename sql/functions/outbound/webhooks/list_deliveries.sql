-- Deliveries of a table, newest first; optionally of one webhook or one status.
create or replace function "unstuck".list_deliveries(
  p_attachment text, p_webhook_id uuid default null, p_status text default null, p_limit int default 100)
returns table (id text, webhook_id text, job_id text, type text, status text, tries int, next_try_in_ms float8,
               last_status int, last_error text, created_at timestamptz, delivered_at timestamptz)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".require(p_limit between 1 and 1000, 'limit', p_limit::text, 'a whole number from 1 to 1000');
  perform "unstuck".require(coalesce(p_status, 'failed') in ('waiting', 'delivered', 'failed'), 'status', p_status,
                            'waiting, delivered or failed');
  return query
  select delivery.id::text, delivery.webhook_id::text, delivery.job_id, delivery.event ->> 'type', delivery.status,
         delivery.tries,
         case when delivery.status = 'waiting' then "unstuck".ms_between(now(), delivery.next_try_at) end,
         delivery.last_status, delivery.last_error, delivery.created_at, delivery.delivered_at
    from "unstuck".deliveries delivery
   where delivery.attachment = p_attachment and (p_webhook_id is null or delivery.webhook_id = p_webhook_id)
     and (p_status is null or delivery.status = p_status)
   order by delivery.id desc limit p_limit;
end
$$;
