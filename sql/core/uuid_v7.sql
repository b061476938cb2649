-- Time-ordered ids: random ones cost a quarter of claim and complete (docs/adr/0005). 48 bits of milliseconds, version
-- 7, 12 bits of the microseconds inside the millisecond, then random bits. One expression, so that it is inlined.
create or replace function "unstuck".uuid_v7(p_at timestamptz default clock_timestamp())
returns uuid language sql volatile as $$
  select encode(
    overlay(
      overlay(uuid_send(gen_random_uuid())
              placing substring(int8send((extract(epoch from p_at) * 1000000)::bigint / 1000) from 3) from 1 for 6)
      placing substring(
        int4send(28672 + ((extract(epoch from p_at) * 1000000)::bigint % 1000)::int * 4096 / 1000) from 3)
      from 7 for 2),
    'hex')::uuid
$$;
