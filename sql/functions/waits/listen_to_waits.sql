-- Private: subscribes this connection to the ends of jobs that somebody waits for, and returns the channel. See
-- listen_to_hints.
create or replace function "unstuck".listen_to_waits(p_attachment text)
returns text language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_channel text := "unstuck".hint_channel(p_attachment || '.waits');
begin
  execute format('listen %I', v_channel);
  return v_channel;
end
$$;
