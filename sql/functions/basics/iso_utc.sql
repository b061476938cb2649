-- Private: a time as events show it, whatever the time zone of the session.
create or replace function "unstuck".iso_utc(p_at timestamptz)
returns text language sql stable
return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
