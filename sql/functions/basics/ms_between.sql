-- Private: checks.
create or replace function "unstuck".ms_between(p_from timestamptz, p_to timestamptz)
returns float8 language sql immutable
return round(extract(epoch from p_to - p_from) * 1000)::float8;
