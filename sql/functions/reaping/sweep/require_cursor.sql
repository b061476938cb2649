-- Private: where a sweep goes on: the next of an earlier answer, and nothing made up.
create or replace function "unstuck".require_cursor(p_cursor jsonb, p_id_type text)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return p_cursor is null or "unstuck".require(
    jsonb_typeof(p_cursor) = 'object'
      and (p_cursor ->> 'after' is null or "unstuck".is_id(p_cursor ->> 'after', p_id_type))
      and (p_cursor ->> 'outage_from' is null or "unstuck".is_iso_time(p_cursor ->> 'outage_from'))
      and (p_cursor ->> 'outage_to' is null or "unstuck".is_iso_time(p_cursor ->> 'outage_to'))
      and (p_cursor ->> 'found_from' is null or "unstuck".is_iso_time(p_cursor ->> 'found_from')
           and p_cursor ->> 'outage_from' is not null
           and (p_cursor ->> 'found_from')::timestamptz <= (p_cursor ->> 'outage_to')::timestamptz)
      and (p_cursor ->> 'locked_since' is null or "unstuck".is_iso_time(p_cursor ->> 'locked_since'))
      and (p_cursor ->> 'sweep_id' is null or "unstuck".is_id(p_cursor ->> 'sweep_id', 'uuid'))
      and (p_cursor ->> 'began_at' is null or "unstuck".is_iso_time(p_cursor ->> 'began_at'))
      and (p_cursor ->> 'expired' is null or p_cursor ->> 'expired' ~ '^[0-9]{1,9}$')
      and (p_cursor ->> 'held' is null or p_cursor ->> 'held' ~ '^[0-9]{1,9}$')
      and (p_cursor ->> 'spread_ms' is null or jsonb_typeof(p_cursor -> 'spread_ms') = 'number'
           and (p_cursor ->> 'spread_ms')::numeric between 0 and 31536000000),
    'cursor', p_cursor::text, 'the next of an earlier step');
end
$$;
