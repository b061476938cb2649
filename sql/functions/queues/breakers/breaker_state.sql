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

-- Private: the cooldown in force. In mode hold a probe may be wrong about the calls: each time in a row that the
-- breaker opened again soon after it had closed doubles the cooldown, up to an hour.
create or replace function "unstuck".breaker_cooldown_ms(p_breaker "unstuck".breakers)
returns float8 language sql immutable
return case when p_breaker.mode = 'hold'
              then least(p_breaker.cooldown_ms * power(2, least(p_breaker.reopens, 30)),
                         greatest(p_breaker.cooldown_ms, 3600000))
              else p_breaker.cooldown_ms end;
