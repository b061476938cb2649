-- The wait before a job may run again: a step if there are steps, else the base doubled each time up to the maximum,
-- plus jitter. The first wait has ordinal 1. src/policy/retry/backoff.ts is the same formula; shared vectors test both.
create or replace function "unstuck".backoff_ms(
  p_steps_ms bigint[], p_base_ms bigint, p_max_ms bigint, p_jitter_ms bigint, p_ordinal int, p_random float8)
returns bigint language sql immutable
return floor(
    coalesce(
      p_steps_ms[least(greatest(p_ordinal, 1), cardinality(p_steps_ms))],
      least(p_max_ms, p_base_ms * power(2::float8, least(greatest(p_ordinal, 1) - 1, 30))))
    + p_random * p_jitter_ms)::bigint;
