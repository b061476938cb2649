-- Private: a breaker as claims see it. An operator's hold overrides open and closed.
create or replace function "unstuck".breaker_state(
  p_held_at timestamptz, p_held_until timestamptz, p_is_open boolean, p_mode text, p_cooldown_until timestamptz)
returns text language sql stable
return case
           when p_held_at is not null and coalesce(p_held_until > now(), true) then 'held'
           when not p_is_open then 'closed'
           when p_mode = 'half-open' and p_cooldown_until <= now() then 'half-open'
           else 'open'
         end;

-- Private: the effective cooldown. In mode hold a probe may be wrong about the calls: each consecutive reopening soon
-- after a close doubles the cooldown, up to an hour.
create or replace function "unstuck".breaker_cooldown_ms(p_breaker "unstuck".breakers)
returns float8 language sql immutable
return case when p_breaker.mode = 'hold'
              then least(p_breaker.cooldown_ms * power(2, least(p_breaker.reopens, 30)),
                         greatest(p_breaker.cooldown_ms, 3600000))
              else p_breaker.cooldown_ms end;
