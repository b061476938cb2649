-- Private: the locked row of a breaker, created with defaults if it does not exist.
create or replace function "unstuck".lock_breaker(p_name text)
returns "unstuck".breakers language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_breaker "unstuck".breakers;
begin
  perform "unstuck".require(length(p_name) between 1 and 200, 'name', p_name, '1 to 200 characters');
  select * into v_breaker from "unstuck".breakers where name = p_name for no key update;
  if not found then
    insert into "unstuck".breakers (name) values (p_name) on conflict (name) do nothing;
    select * into strict v_breaker from "unstuck".breakers where name = p_name for no key update;
  end if;
  return v_breaker;
end
$$;
