-- Private: checks the name of a queue.
create or replace function "unstuck".require_queue(p_queue text)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return "unstuck".require(length(p_queue) between 1 and 200, 'queue', p_queue, '1 to 200 characters');
end
$$;
