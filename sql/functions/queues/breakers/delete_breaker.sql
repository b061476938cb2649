-- Deletes a breaker and its settings unless a queue of any table is bound to it: deleted, in-use or not-found.
create or replace function "unstuck".delete_breaker(p_name text)
returns text language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".require(length(p_name) between 1 and 200, 'name', p_name, '1 to 200 characters');
  -- FOR UPDATE, or a queue could be bound to it between check and delete.
  perform from "unstuck".breakers where name = p_name for update;
  if not found then
    return 'not-found';
  elsif exists (select from "unstuck".dependencies where name = p_name) then
    return 'in-use';
  end if;
  delete from "unstuck".breakers where name = p_name;
  return 'deleted';
end
$$;
