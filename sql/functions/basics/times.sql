-- Private: a time as text in UTC, whatever the time zone of the session.
create or replace function "unstuck".iso_utc(p_at timestamptz)
returns text language sql stable
return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- Private: milliseconds from one time to another.
create or replace function "unstuck".ms_between(p_from timestamptz, p_to timestamptz)
returns float8 language sql immutable
return round(extract(epoch from p_to - p_from) * 1000)::float8;

-- Private: a time plus milliseconds. Stable, as adding an interval is, so that PostgreSQL can inline it.
create or replace function "unstuck".after_ms(p_at timestamptz, p_ms float8)
returns timestamptz language sql stable
return p_at + p_ms * interval '1 millisecond';
