-- Private: how many jobs a sweep that is done has left behind: past their lease when it began, not held, and still
-- running, for somebody had their rows locked.
create or replace function "unstuck"."skipped_jobs"(p_cursor jsonb, p_policy "unstuck".policies)
returns int language sql stable as $$
  select count(*)::int from "unstuck"."running_jobs"(p_policy) running
   where running.ended_at < (p_cursor ->> 'began_at')::timestamptz
     and not "unstuck".is_held((p_cursor ->> 'outage_from')::timestamptz, (p_cursor ->> 'outage_to')::timestamptz,
                               running.ended_at, running.heartbeat_at, running.lease_ms)
$$;
