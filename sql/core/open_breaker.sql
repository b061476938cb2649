-- Opens a breaker that the caller has locked, or lets the cooldown of an open one begin anew. What an operator wrote
-- about a hold stays.
create or replace function "unstuck".open_breaker(p_name text)
returns boolean language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  delete from "unstuck".probes where breaker = p_name;
  update "unstuck".breakers breaker
     set is_open = true, successes = 0, probed_at = null,
         cooldown_until = "unstuck".after_ms(v_now, breaker.cooldown_ms),
         changed_at = case when told.is_news then v_now else breaker.changed_at end,
         changed_by = case when told.is_news then null else breaker.changed_by end,
         reason = case when told.is_news then 'calls-failed' else breaker.reason end
    from (select "unstuck".breaker_state(locked) = 'closed' as is_news
            from "unstuck".breakers locked where locked.name = p_name) told
   where breaker.name = p_name;
  return true;
end
$$;
