-- Private: opens a breaker that the caller has locked, or restarts the cooldown of an open one. An operator's note on
-- a hold stays. It reopened early if it was closed for less than ten cooldowns.
create or replace function "unstuck".open_breaker(p_name text)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_breaker "unstuck".breakers;
  v_is_news boolean;
  v_cooldown_until timestamptz;
begin
  select * into strict v_breaker from "unstuck".breakers where name = p_name;
  v_is_news := "unstuck".breaker_state(
    v_breaker.held_at, v_breaker.held_until, v_breaker.is_open, v_breaker.mode, v_breaker.cooldown_until) = 'closed';
  v_breaker.reopens := case
    when v_breaker.is_open then v_breaker.reopens + (v_breaker.mode = 'half-open')::int
    when v_breaker.mode = 'hold' and v_breaker.closed_at > "unstuck".after_ms(v_now, -10 * v_breaker.cooldown_ms)
      then v_breaker.reopens + 1
    else 0 end;
  v_cooldown_until := "unstuck".after_ms(v_now, "unstuck".breaker_cooldown_ms(v_breaker));
  -- Probe jobs met the same failure.
  update "unstuck".probes set failed_at = v_now where breaker = p_name and failed_at is null;
  update "unstuck".breakers
     set is_open = true, successes = 0, unheard = 0, probed_at = null, reopens = v_breaker.reopens,
         cooldown_until = v_cooldown_until,
         changed_at = case when v_is_news then v_now else changed_at end,
         changed_by = case when v_is_news then null else changed_by end,
         reason = case when v_is_news then 'calls-failed' else reason end
   where name = p_name;
  return true;
end
$$;
