-- Private: checks.
create or replace function "unstuck".require_webhook(p_url text, p_secret text, p_events text[])
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".require(length(p_url) <= 2000 and p_url ~ '^https?://[^/[:space:]@]+(/[^[:space:]]*)?$',
                            'url', p_url, 'an address of at most 2000 characters: https://…, without a password');
  -- What it got is not shown: it may be a secret all the same.
  perform "unstuck".require(p_secret ~ '^whsec_[A-Za-z0-9+/]{32,100}={0,2}$', 'secret', 'something else',
                            'whsec_ and the base64 of 24 to 64 bytes');
  perform "unstuck".require_list(p_events, 'events', 'types of events');
  return "unstuck".require(cardinality(p_events) <= 100 and 100 >= all (select length(name) from unnest(p_events) name)
                             and not ('' = any (p_events)),
                           'events', p_events::text, 'at most 100 types of 1 to 100 characters');
end
$$;
