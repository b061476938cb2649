-- Deletes buckets that have been full for an hour, which equals having none. Limits by owner would otherwise grow with
-- every owner. Returns the count; continue while it is p_limit.
create or replace function "unstuck".prune_rate_limits(p_limit int default 1000)
returns int language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_deleted int;
begin
  perform "unstuck".require(p_limit between 1 and 10000, 'limit', p_limit::text, 'a whole number from 1 to 10000');
  with full_ones as materialized (
    select key from "unstuck".rate_limits where full_at < now() - interval '1 hour' limit p_limit
       for update skip locked
  )
  delete from "unstuck".rate_limits bucket using full_ones where bucket.key = full_ones.key;
  get diagnostics v_deleted = row_count;
  return v_deleted;
end
$$;
