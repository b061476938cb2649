-- Private: the reaper's own sign of life, written last. Where another reaper is writing it, its word is as good.
create or replace function "unstuck"."leave_pulse"(p_reaper jsonb, p_cursor jsonb, p_counts jsonb)
returns boolean language plpgsql as $$
begin
  perform from "unstuck".sweeps where attachment = /*attachment*/'native' for update skip locked;
  if not found then
    return false;
  end if;
  update "unstuck".sweeps
     set reaper_id = p_reaper ->> 'reaper_id',
         swept_at = clock_timestamp(),
         server_started_at = pg_postmaster_start_time(),
         -- SQL alone has no such facts: it may run inside the server, and says nothing about the network.
         reached_at = case when coalesce(p_reaper ->> 'elapsed_ms', p_reaper ->> 'failing_for_ms') is null
                           then reached_at else clock_timestamp() end,
         duration_ms = (p_counts ->> 'duration_ms')::float8, found = (p_counts ->> 'found')::int,
         requeued = (p_counts ->> 'requeued')::int, dead = (p_counts ->> 'dead')::int,
         cancelled = (p_counts ->> 'cancelled')::int, skipped = (p_counts ->> 'skipped')::int,
         held = (p_counts ->> 'held')::int
   where attachment = /*attachment*/'native';
  -- Another reaper may have found an outage since this sweep began.
  update "unstuck".sweeps
     set outage_from = (p_cursor ->> 'outage_from')::timestamptz,
         outage_to = (p_cursor ->> 'outage_to')::timestamptz,
         hold_reason = p_cursor ->> 'outage_reason'
   where attachment = /*attachment*/'native'
     and (p_cursor ->> 'outage_to')::timestamptz > coalesce(outage_to, '-infinity');
  return true;
end
$$;
