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
         outage_from = (p_cursor ->> 'outage_from')::timestamptz,
         outage_to = (p_cursor ->> 'outage_to')::timestamptz,
         hold_reason = p_cursor ->> 'outage_reason',
         duration_ms = (p_counts ->> 'duration_ms')::float8, found = (p_counts ->> 'found')::int,
         requeued = (p_counts ->> 'requeued')::int, dead = (p_counts ->> 'dead')::int,
         cancelled = (p_counts ->> 'cancelled')::int, skipped = (p_counts ->> 'skipped')::int,
         held = (p_counts ->> 'held')::int
   where attachment = /*attachment*/'native';
  return true;
end
$$;
