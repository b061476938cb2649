-- Private: holds a breaker until the time that its service asked for (RATE-6). The caller has locked it. A hold in
-- force is only ever extended, and keeps its note.
create or replace function "unstuck".limit_breaker(p_name text, p_limited_ms float8)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_ends_at timestamptz := "unstuck".after_ms(v_now, p_limited_ms);
  v_state text := (
    select "unstuck".breaker_state(breaker.held_at, breaker.held_until, breaker.is_open, breaker.mode,
                                   breaker.cooldown_until)
      from "unstuck".breakers breaker where breaker.name = p_name);
begin
  update "unstuck".breakers breaker
     set held_at = case when v_state = 'held' then breaker.held_at else v_now end,
         held_until = case when v_state <> 'held' then v_ends_at
                           when breaker.held_until is not null then greatest(breaker.held_until, v_ends_at) end,
         changed_at = case when v_state = 'closed' then v_now else breaker.changed_at end,
         changed_by = case when v_state = 'closed' then null else breaker.changed_by end,
         reason = case when v_state = 'closed' then 'limited' else breaker.reason end
   where breaker.name = p_name;
  return true;
end
$$;
