-- A time-ordered id. Random ids cost a quarter of the throughput of claim and complete (docs/adr/0005).
create or replace function "unstuck".uuid_v7(p_at timestamptz default clock_timestamp())
returns uuid language sql volatile
return "unstuck".uuid_v7_of(
    (extract(epoch from p_at) * 1000000)::bigint, uuid_hash_extended(gen_random_uuid(), 0::bigint));

-- Private: the id of uuid_v7 for a time in microseconds and a random number. 48 bits of milliseconds, version 7
-- (28672), 12 bits of the microsecond, the variant (8) and 12 bits of the shard (000 on a single machine,
-- docs/adr/0024), 48 random bits. One expression, so that it is inlined.
create or replace function "unstuck".uuid_v7_of(p_at_us bigint, p_random bigint)
returns uuid language sql immutable
return encode(int8send((p_at_us / 1000 << 16) | 28672 | (p_at_us % 1000 * 4096 / 1000))
              || int8send(/*shard_bits*/(-9223372036854775808) | (p_random & 281474976710655)),
              'hex')::uuid;
