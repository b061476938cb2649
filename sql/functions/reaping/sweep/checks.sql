-- Private: checks the cursor of a sweep: the next of an earlier answer.
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
      and (p_cursor ->> 'watchers' is null or p_cursor ->> 'watchers' ~ '^[0-9]{1,9}$')
      and (p_cursor ->> 'spread_ms' is null or jsonb_typeof(p_cursor -> 'spread_ms') = 'number'
           and (p_cursor ->> 'spread_ms')::numeric between 0 and 31536000000),
    'cursor', p_cursor::text, 'the next of an earlier step');
end
$$;

-- Private: checks what a reaper reports about itself, at every step.
create or replace function "unstuck".require_reaper(p_reaper jsonb)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_name text;
  v_stray text;
begin
  if p_reaper is null then
    return true;
  end if;
  perform "unstuck".require(
    jsonb_typeof(p_reaper -> 'reaper_id') = 'string' and length(p_reaper ->> 'reaper_id') between 1 and 200,
    'reaper', p_reaper::text, 'NULL, or an object with a reaper_id of 1 to 200 characters');
  select key into v_stray from jsonb_object_keys(p_reaper) key
   where key <> all (array['reaper_id', 'last_swept_at', 'elapsed_ms', 'failing_for_ms', 'interval_ms']) limit 1;
  perform "unstuck".require(v_stray is null, 'reaper', v_stray,
                            'reaper_id, last_swept_at, elapsed_ms, failing_for_ms and interval_ms');
  perform "unstuck".require(
    p_reaper ->> 'last_swept_at' is null or "unstuck".is_iso_time(p_reaper ->> 'last_swept_at'),
    'last_swept_at', p_reaper ->> 'last_swept_at', 'the swept_at of an earlier sweep');
  foreach v_name in array array['elapsed_ms', 'failing_for_ms', 'interval_ms'] loop
    perform "unstuck".require(
      p_reaper ->> v_name is null or jsonb_typeof(p_reaper -> v_name) = 'number'
        and (p_reaper ->> v_name)::numeric between 0 and 315360000000,
      v_name, p_reaper ->> v_name, 'milliseconds from 0 to ten years');
  end loop;
  return true;
end
$$;
