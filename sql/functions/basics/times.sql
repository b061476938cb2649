-- Private: a time as events show it, whatever the time zone of the session.
create or replace function "unstuck".iso_utc(p_at timestamptz)
returns text language sql stable
return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- Private: checks.
create or replace function "unstuck".ms_between(p_from timestamptz, p_to timestamptz)
returns float8 language sql immutable
return round(extract(epoch from p_to - p_from) * 1000)::float8;

-- Private: stable and not immutable, as adding an interval is: PostgreSQL would not inline it otherwise.
create or replace function "unstuck".after_ms(p_at timestamptz, p_ms float8)
returns timestamptz language sql stable
return p_at + p_ms * interval '1 millisecond';
