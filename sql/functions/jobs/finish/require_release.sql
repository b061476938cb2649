-- Private: checks.
create or replace function "unstuck".require_release(
  p_delay_ms bigint, p_cause text, p_spread_ms float8, p_reason text)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".require(coalesce(p_delay_ms, 0) between 0 and 31536000000, 'delay_ms', p_delay_ms::text,
                            'milliseconds from 0 to one year');
  perform "unstuck".require(p_spread_ms between 0 and 86400000, 'spread_ms', p_spread_ms::text,
                            'milliseconds from 0 to one day');
  perform "unstuck".require(p_cause in ('release', 'interruption'), 'cause', p_cause, 'release or interruption');
  return "unstuck".require(coalesce(length(p_reason), 1) between 1 and 1000, 'reason', p_reason,
                           '1 to 1000 characters');
end
$$;
