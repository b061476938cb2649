-- Current token buckets whose key begins with p_prefix, most recently used first. tokens and next_token_in_ms follow
-- the settings of the last caller; NULL before the first.
create or replace function "unstuck".list_rate_limits(p_prefix text default null, p_limit int default 100)
returns table (key text, rate_per_s float8, burst int, tokens int, next_token_in_ms float8, full_in_ms float8,
               used_at timestamptz)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".require(p_limit between 1 and 1000, 'limit', p_limit::text, 'a whole number from 1 to 1000');
  return query
  select bucket.key, bucket.rate_per_s, bucket.burst, free.tokens,
         case when free.tokens >= bucket.burst then 0
              else ceil(owed.ms - (bucket.burst - free.tokens - 1) * 1000 / bucket.rate_per_s) end,
         owed.ms, bucket.used_at
    from "unstuck".rate_limits bucket,
         lateral (select greatest(0, extract(epoch from bucket.full_at - now())::float8 * 1000) as ms) owed,
         -- With the tolerance of take_tokens.
         lateral (select greatest(0, floor(bucket.burst - owed.ms * bucket.rate_per_s / 1000 + 1e-6))::int
                         as tokens) free
   where p_prefix is null or starts_with(bucket.key, p_prefix)
   order by bucket.used_at desc nulls last, bucket.key limit p_limit;
end
$$;
