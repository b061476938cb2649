-- Sends events of a table to an address from now on: the given types, or all. Receivers verify signatures with the
-- secret; no other function shows it.
create or replace function "unstuck".add_webhook(
  p_attachment text, p_url text, p_secret text, p_events text[] default '{}', p_actor text default null,
  p_reason text default null)
returns setof "unstuck".webhook_status language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_id uuid := "unstuck".uuid_v7(v_now);
begin
  perform "unstuck".require_webhook(p_url, p_secret, p_events);
  insert into "unstuck".webhooks (id, attachment, url, secret, events, created_at, created_by)
  values (v_id, p_attachment, p_url, p_secret, p_events, v_now, p_actor);
  -- Only the origin: query and path may contain keys.
  perform "unstuck".record_audit_entry(p_attachment, 'webhook-added', v_id::text, p_actor, p_reason,
                                       jsonb_build_object('url', substring(p_url from '^[^:]+://[^/?#]+')));
  return query select * from "unstuck".list_webhooks(p_attachment, v_id);
end
$$;

-- Private: checks the arguments of add_webhook.
create or replace function "unstuck".require_webhook(p_url text, p_secret text, p_events text[])
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".require(length(p_url) <= 2000 and p_url ~ '^https?://[^/[:space:]@]+(/[^[:space:]]*)?$',
                            'url', p_url, 'an address of at most 2000 characters: https://…, without a password');
  -- The value is not shown: it may be a secret.
  perform "unstuck".require(p_secret ~ '^whsec_[A-Za-z0-9+/]{32,100}={0,2}$', 'secret', 'something else',
                            'whsec_ and the base64 of 24 to 64 bytes');
  perform "unstuck".require_list(p_events, 'events', 'types of events');
  return "unstuck".require(cardinality(p_events) <= 100 and 100 >= all (select length(name) from unnest(p_events) name)
                             and not ('' = any (p_events)),
                           'events', p_events::text, 'at most 100 types of 1 to 100 characters');
end
$$;
