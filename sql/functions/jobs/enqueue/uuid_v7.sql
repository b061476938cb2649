-- Time-ordered ids: random ones cost a quarter of claim and complete (docs/adr/0005). 48 bits of milliseconds, version
-- 7, 12 bits of the microseconds inside the millisecond, then random bits.
create or replace function "unstuck".uuid_v7(p_at timestamptz default clock_timestamp())
returns uuid language sql volatile
return "unstuck".uuid_v7_of((extract(epoch from p_at) * 1000000)::bigint);
