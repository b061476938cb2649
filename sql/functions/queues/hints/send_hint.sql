-- Private: notifies listening workers that there may be jobs. It is sent with the commit, once per transaction. NOTIFY
-- serializes commits, so a verb sends at most one, and claims, heartbeats and completions send none.
create or replace function "unstuck".send_hint(p_policy "unstuck".policies)
returns boolean language plpgsql as $$
begin
  if p_policy.notify = 'on' then
    perform pg_notify("unstuck".hint_channel(p_policy.attachment), '');
  end if;
  return p_policy.notify = 'on';
end
$$;
