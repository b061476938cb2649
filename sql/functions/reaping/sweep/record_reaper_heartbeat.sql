-- Private: the last write of a sweep, by which others see that reaping works. Skipped if another reaper is writing it.
create or replace function "unstuck"."record_reaper_heartbeat"(
  p_reaper jsonb, p_cursor jsonb, p_counts jsonb)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_found_from timestamptz := (p_cursor ->> 'found_from')::timestamptz;
  v_outages tstzmultirange;
  v_now timestamptz;
  v_epoch text := "unstuck".server_epoch();
begin
  select outages into v_outages from "unstuck".sweeps
   where attachment = /*attachment*/'native' for update skip locked;
  if not found then
    return false;
  end if;
  v_now := clock_timestamp();
  -- Later times are from before the clock was set back.
  v_outages := v_outages * tstzmultirange(tstzrange(null, v_now, '[]'));
  update "unstuck".sweeps
     set reaper_id = p_reaper ->> 'reaper_id',
         swept_at = v_now,
         outages = v_outages, outage_from = lower(v_outages), outage_to = upper(v_outages),
         -- A table lock recorded since this sweep began is still current.
         locked_since = nullif(locked_since, (p_cursor ->> 'locked_since')::timestamptz),
         server_started_at = pg_postmaster_start_time(), server_epoch = v_epoch,
         -- SQL alone may run inside the server, and proves nothing about the network.
         reached_at = case when coalesce(p_reaper ->> 'elapsed_ms', p_reaper ->> 'failing_for_ms') is null
                           then reached_at else v_now end,
         duration_ms = (p_counts ->> 'duration_ms')::float8, found = (p_counts ->> 'found')::int,
         requeued = (p_counts ->> 'requeued')::int, dead = (p_counts ->> 'dead')::int,
         cancelled = (p_counts ->> 'cancelled')::int, skipped = (p_counts ->> 'skipped')::int,
         held = (p_counts ->> 'held')::int,
         -- NULL if the sweep did not look at the workers: an old number would keep others from watching, or call them.
         watchers = case when p_cursor ? 'watchers' then (p_cursor ->> 'watchers')::int else watchers end
   where attachment = /*attachment*/'native';
  -- Rows of dead workers; a live worker deletes its own with its next claim, which may come long after a reservation
  -- has lapsed.
  delete from "unstuck".kept_workers kept
   where kept.attachment = /*attachment*/'native'
     and not exists (select from "unstuck"."jobs" job
                      where job."id" = kept.job_id::/*id*/uuid
                        and (job."lease_id" = kept.lease_id
                             or kept.lease_id is null and job."status" is not distinct from /*waiting*/'waiting'
                                and kept.seen_at > "unstuck".after_ms(now(), -3600000)));
  if v_found_from is not null then
    -- Another reaper may have found an outage since this sweep began: only earlier ones are dropped.
    select range_agg(outage) into v_outages
      from pg_catalog.unnest(v_outages + tstzmultirange(
             tstzrange(v_found_from, (p_cursor ->> 'outage_to')::timestamptz, '[]'))) outage
     where upper(outage) >= (p_cursor ->> 'outage_from')::timestamptz;
    update "unstuck".sweeps
       set outages = v_outages, outage_from = lower(v_outages), outage_to = upper(v_outages),
           hold_reason = p_cursor ->> 'found_reason'
     where attachment = /*attachment*/'native';
  end if;
  return true;
end
$$;
