-- Private: tells listening workers to look for jobs, and nothing else: what there is to do stands in the table. It
-- goes out with the commit, once for each transaction however often it is asked for. NOTIFY makes commits wait for
-- each other, so one call of a verb sends one at most, and claims, beats and completions send none.
create or replace function "unstuck".send_hint(p_policy "unstuck".policies)
returns boolean language plpgsql as $$
begin
  if p_policy.notify = 'on' then
    perform pg_notify("unstuck".hint_channel(p_policy.attachment), '');
  end if;
  return p_policy.notify = 'on';
end
$$;
