-- Private: counts probes of an open breaker that went well; enough of them in a row close it.
create or replace function "unstuck".count_successes(p_breaker "unstuck".breakers, p_count int)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if p_breaker.successes + p_count >= p_breaker.close_after then
    return "unstuck".close_breaker(p_breaker.name);
  end if;
  update "unstuck".breakers set successes = successes + p_count where name = p_breaker.name;
  return false;
end
$$;
