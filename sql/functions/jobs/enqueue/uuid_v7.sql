-- Time-ordered ids: random ones cost a quarter of claim and complete (docs/adr/0005). 48 bits of milliseconds, version
-- 7, 12 bits of the microseconds inside the millisecond, then random bits.
create or replace function "unstuck".uuid_v7(p_at timestamptz default clock_timestamp())
returns uuid language sql volatile
return "unstuck".uuid_v7_of((extract(epoch from p_at) * 1000000)::bigint);

-- Private: the id of uuid_v7 for a time in microseconds: whole numbers alone. 28672 is version 7. One
-- expression, so that it is inlined.
create or replace function "unstuck".uuid_v7_of(p_at_us bigint)
returns uuid language sql volatile
return encode(
    overlay(uuid_send(gen_random_uuid())
            placing int8send((p_at_us / 1000 << 16) | 28672 | (p_at_us % 1000 * 4096 / 1000)) from 1 for 8),
    'hex')::uuid;
