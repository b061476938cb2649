-- Private: a breaker without the calls that its window has left behind: those before the last window_calls, and where
-- it has a window of time those that are older.
create or replace function "unstuck".forget_calls(p_breaker "unstuck".breakers, p_now timestamptz)
returns "unstuck".breakers language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_first int := greatest(
    1, cardinality(p_breaker.calls) - p_breaker.window_calls + 1,
    1 + (select count(*) from unnest(p_breaker.called_at) at
          where at <= "unstuck".after_ms(p_now, -p_breaker.window_ms)));
begin
  p_breaker.calls := p_breaker.calls[v_first:];
  p_breaker.called_at := p_breaker.called_at[v_first:];
  return p_breaker;
end
$$;
