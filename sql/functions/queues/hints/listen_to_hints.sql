-- Subscribes this connection to the hints of a table and returns the channel. Behind a pooler in transaction mode it
-- seems to work, but nothing arrives.
create or replace function "unstuck".listen_to_hints(p_attachment text)
returns text language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_channel text := "unstuck".hint_channel(("unstuck".policy_of(p_attachment)).attachment);
begin
  execute format('listen %I', v_channel);
  return v_channel;
end
$$;
