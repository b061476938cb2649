-- Private: notifies the holders of these leases that a cancel is requested, so that they send a heartbeat now. It only
-- saves time: the next heartbeat's answer says the same. The payload has numbers drawn from the random lease ids, never
-- a job's id (C16): a worker knows its own, and nobody can find a lease by its number. A payload has less than 8,000
-- bytes.
create or replace function "unstuck".send_cancel_hint(p_policy "unstuck".policies, p_lease_ids uuid[])
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if p_policy.notify = 'off' then
    return false;
  end if;
  perform pg_notify("unstuck".hint_channel(p_policy.attachment), format('{"cancels": %s}', json_agg(number)))
     from (select number, dense_rank() over (order by number) / 600 as part
             from (select distinct ('x' || left(md5(lease_id::text), 8))::bit(32)::int as number
                     from unnest(p_lease_ids) lease_id where lease_id is not null) holder) numbered
    group by part;
  return found;
end
$$;
