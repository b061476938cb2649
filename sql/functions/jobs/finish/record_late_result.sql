-- Records the result of a worker that had lost its lease: an event, and nothing else.
create or replace function "unstuck"."record_late_result"(p_id /*id*/uuid, p_lease_id uuid, p_details jsonb)
returns boolean language plpgsql as $$
begin
  perform "unstuck".require_leases(array[p_id], array[p_lease_id]);
  perform "unstuck".require(jsonb_typeof(p_details) = 'object', 'details', p_details::text, 'an object');
  if not exists (select from "unstuck"."jobs" job where job."id" = p_id) then
    return false;
  end if;
  perform "unstuck"."record_events"(clock_timestamp(), array[
    row(p_id::text, 'late_result', p_details || jsonb_build_object('lease_id', p_lease_id))::"unstuck".new_event]);
  return true;
end
$$;
