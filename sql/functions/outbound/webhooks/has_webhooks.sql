-- Private: whether a table has webhooks, or deliveries that wait. Workers look for deliveries only then.
create or replace function "unstuck".has_webhooks(p_attachment text)
returns boolean language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (select from "unstuck".webhooks where attachment = p_attachment)
      or exists (select from "unstuck".deliveries where attachment = p_attachment and status = 'waiting')
$$;
