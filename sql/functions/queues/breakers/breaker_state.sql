-- Private: a breaker as claims see it. What an operator holds is held whatever the calls say, and open or closed
-- beneath.
create or replace function "unstuck".breaker_state(p_breaker "unstuck".breakers)
returns text language sql stable
return case
           when p_breaker.held_at is not null and coalesce(p_breaker.held_until > now(), true) then 'held'
           when not p_breaker.is_open then 'closed'
           when p_breaker.mode = 'half-open' and p_breaker.cooldown_until <= now() then 'half-open'
           else 'open'
         end;
