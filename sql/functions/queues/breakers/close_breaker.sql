-- Private: closes a breaker that the caller has locked, with an empty window. An operator's note on a hold stays.
create or replace function "unstuck".close_breaker(p_name text)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_is_news boolean := (
    select "unstuck".breaker_state(breaker.held_at, breaker.held_until, breaker.is_open, breaker.mode,
                                   breaker.cooldown_until) <> 'held'
      from "unstuck".breakers breaker where breaker.name = p_name);
begin
  delete from "unstuck".probes where breaker = p_name;
  update "unstuck".breakers breaker
     set is_open = false, successes = 0, unheard = 0, calls = '{}', called_at = '{}', cooldown_until = null,
         probed_at = null,
         closed_at = v_now, reopens = case when breaker.mode = 'hold' then breaker.reopens else 0 end,
         changed_at = case when v_is_news then v_now else breaker.changed_at end,
         changed_by = case when v_is_news then null else breaker.changed_by end,
         reason = case when v_is_news then 'probes-succeeded' else breaker.reason end
   where breaker.name = p_name;
  return "unstuck".hint_dependents(p_name);
end
$$;

-- Private: counts successful probes of an open breaker; enough in a row close it.
create or replace function "unstuck".count_successes(p_breaker "unstuck".breakers, p_count int)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if p_breaker.successes + p_count >= p_breaker.close_after then
    return "unstuck".close_breaker(p_breaker.name);
  end if;
  update "unstuck".breakers set successes = successes + p_count, unheard = 0 where name = p_breaker.name;
  return false;
end
$$;

-- Private: hints at new work to the workers of every table with queues bound to a breaker.
create or replace function "unstuck".hint_dependents(p_name text)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_attachment text;
begin
  for v_attachment in select attachment from "unstuck".dependencies where name = p_name group by attachment loop
    perform "unstuck".send_hint("unstuck".policy_of(v_attachment));
  end loop;
  return true;
end
$$;
