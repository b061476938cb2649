-- Private: checks arguments of reap_jobs.
create or replace function "unstuck".require_reap(p_limit int, p_spread_ms float8)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".require(p_limit between 1 and 10000, 'limit', p_limit::text, 'a whole number from 1 to 10000');
  return "unstuck".require(coalesce(p_spread_ms, 0) between 0 and 31536000000, 'spread_ms', p_spread_ms::text,
                           'milliseconds from 0 to one year');
end
$$;
