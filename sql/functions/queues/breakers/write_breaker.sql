-- Changes settings of a breaker, effective with the next call of anyone. Calls that left the window stay forgotten;
-- calls without a recorded time count as new.
create or replace function "unstuck".write_breaker(p_name text, p_change jsonb)
returns setof "unstuck".breaker_status language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_breaker "unstuck".breakers;
  v_stray text;
begin
  perform "unstuck".require(jsonb_typeof(p_change) = 'object', 'change', p_change::text, 'an object');
  select key into v_stray from jsonb_object_keys(p_change) key
   where key <> all (array['mode', 'window_calls', 'window_ms', 'min_calls', 'fail_threshold', 'cooldown_ms',
                           'close_after', 'probe_interval_ms', 'probe_slots', 'probe_timeout_ms']) limit 1;
  perform "unstuck".require(v_stray is null, 'change', v_stray, 'the settings of a breaker');
  v_breaker := "unstuck".forget_calls("unstuck".lock_breaker(p_name), clock_timestamp());
  begin
    v_breaker := jsonb_populate_record(v_breaker, p_change);
    if v_breaker.window_ms is null then
      v_breaker.called_at := '{}';
    elsif cardinality(v_breaker.called_at) < cardinality(v_breaker.calls) then
      v_breaker.called_at := array_fill(clock_timestamp(), array[cardinality(v_breaker.calls)]);
    end if;
    v_breaker := "unstuck".forget_calls(v_breaker, clock_timestamp());
    update "unstuck".breakers
       set mode = v_breaker.mode, window_calls = v_breaker.window_calls, window_ms = v_breaker.window_ms,
           min_calls = v_breaker.min_calls, fail_threshold = v_breaker.fail_threshold,
           cooldown_ms = v_breaker.cooldown_ms, close_after = v_breaker.close_after,
           probe_interval_ms = v_breaker.probe_interval_ms,
           probe_slots = v_breaker.probe_slots, probe_timeout_ms = v_breaker.probe_timeout_ms,
           calls = v_breaker.calls, called_at = v_breaker.called_at
     where name = p_name;
  exception when data_exception or integrity_constraint_violation then
    perform "unstuck".require(false, 'change', p_change::text, 'the ranges of the breakers table: ' || sqlerrm);
  end;
  return query select * from "unstuck".list_breakers(p_name);
end
$$;
