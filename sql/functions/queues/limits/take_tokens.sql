-- Takes up to p_tokens tokens from every limit, as many as the emptiest bucket has: [{ key, rate_per_s, burst }]. A
-- bucket is stored as the time at which it will be full again (GCRA), on the clock once the rows are locked. Returns
-- the tokens granted, and the wait for the next one.
create or replace function "unstuck".take_tokens(p_limits jsonb, p_tokens int default 1)
returns table (granted int, retry_in_ms float8) language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_keys text[];
  v_locked int;
  v_now timestamptz;
begin
  perform "unstuck".require(p_tokens between 1 and 1000000, 'tokens', p_tokens::text,
                            'a whole number from 1 to 1000000');
  perform "unstuck".require_limits(p_limits);
  v_keys := array(select asked ->> 'key' from jsonb_array_elements(p_limits) asked);
  loop
    -- Rows are inserted before any is locked, both in the order of the keys, so that calls do not deadlock.
    insert into "unstuck".rate_limits (key, full_at)
    select asked.key, clock_timestamp() from unnest(v_keys) asked(key)
     where not exists (select from "unstuck".rate_limits bucket where bucket.key = asked.key)
     order by asked.key
        on conflict (key) do nothing;
    select count(*) into v_locked
      from (select from "unstuck".rate_limits bucket where bucket.key = any (v_keys)
             order by bucket.key for no key update) locked;
    exit when v_locked = cardinality(v_keys);
  end loop;
  v_now := clock_timestamp();

  return query
  with found as materialized (
    select asked.key, asked.rate_per_s, asked.burst, asked.token_ms, asked.token_ms * asked.burst as depth_ms,
           greatest(0, extract(epoch from bucket.full_at - v_now)::float8 * 1000) as owed_ms,
           greatest(bucket.full_at, v_now) as full_at
      from (select key, rate_per_s, burst, 1000 / rate_per_s as token_ms
              from jsonb_to_recordset(p_limits) as asked(key text, rate_per_s float8, burst float8)) asked
      join "unstuck".rate_limits bucket on bucket.key = asked.key
  ), share as materialized (
    -- A small tolerance for a token that is due exactly now. The bucket owes it, so it does not accumulate.
    select least(p_tokens, greatest(0, min(floor((depth_ms - owed_ms) / token_ms + 1e-6))))::int as tokens from found
  ), taken as (
    update "unstuck".rate_limits bucket
       set full_at = asked.full_at, rate_per_s = asked.rate_per_s, burst = asked.burst, used_at = v_now
      from (select found.key, found.rate_per_s, found.burst,
                   "unstuck".after_ms(found.full_at, ceil(share.tokens * found.token_ms * 1000) / 1000) as full_at
              from found, share where share.tokens > 0) asked
     where bucket.key = asked.key
  )
  select share.tokens,
         case when share.tokens = p_tokens then 0
              else (select max(ceil(greatest(0, owed_ms + (share.tokens + 1) * token_ms - depth_ms))) from found) end
    from share;
end
$$;

-- Private: checks the argument of take_tokens.
create or replace function "unstuck".require_limits(p_limits jsonb)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_bad jsonb;
begin
  perform "unstuck".require(jsonb_typeof(p_limits) = 'array', 'limits', p_limits::text, 'an array of limits');
  perform "unstuck".require(jsonb_array_length(p_limits) between 1 and 100, 'limits',
                            jsonb_array_length(p_limits)::text, '1 to 100 of them');
  select coalesce(asked -> 'key', asked) into v_bad from jsonb_array_elements(p_limits) asked
   where jsonb_typeof(asked -> 'key') is distinct from 'string' or length(asked ->> 'key') not between 1 and 500
   limit 1;
  perform "unstuck".require(v_bad is null, 'key', v_bad::text, '1 to 500 characters');
  select asked -> 'key' into v_bad from jsonb_array_elements(p_limits) asked
   group by asked -> 'key' having count(*) > 1 limit 1;
  perform "unstuck".require(v_bad is null, 'key', v_bad::text, 'each key once');
  select coalesce(asked -> 'rate_per_s', 'null') into v_bad from jsonb_array_elements(p_limits) asked
   where jsonb_typeof(asked -> 'rate_per_s') is distinct from 'number'
      or (asked ->> 'rate_per_s')::numeric not between 0.0001 and 1000000 limit 1;
  perform "unstuck".require(v_bad is null, 'rate_per_s', v_bad::text, 'tokens a second from 0.0001 to 1000000');
  select coalesce(asked -> 'burst', 'null') into v_bad from jsonb_array_elements(p_limits) asked
   where jsonb_typeof(asked -> 'burst') is distinct from 'number'
      or (asked ->> 'burst')::numeric not between 1 and 1000000
      or (asked ->> 'burst')::numeric <> trunc((asked ->> 'burst')::numeric) limit 1;
  return "unstuck".require(v_bad is null, 'burst', v_bad::text, 'a whole number from 1 to 1000000');
end
$$;
