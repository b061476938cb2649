-- Private: writes events and their deliveries, and notifies processes that wait for the end of a job, all in the
-- transaction of the change.
create or replace function "unstuck"."record_events"(p_at timestamptz, p_events "unstuck".new_event[])
returns int language plpgsql as $$
declare
  v_at text := "unstuck".iso_utc(p_at);
begin
  if coalesce(cardinality(p_events), 0) = 0 then
    return 0;
  end if;
  insert into "unstuck".events (attachment, job_id, type, at, data)
  select /*attachment*/'native', event.job_id, event.type, p_at,
         jsonb_build_object('at', v_at, 'type', event.type, 'table', /*table*/'jobs', 'details', event.details)
    from pg_catalog.unnest(p_events) event;
  /*+team_events
  insert into "team_events" ("team_job_id", "team_data")
  select event.job_id::/*id*/uuid,
         jsonb_build_object('at', v_at, 'type', event.type, 'table', /*table*/'jobs', 'details', event.details)
    from pg_catalog.unnest(p_events) event;
  */
  if exists (select from "unstuck".webhooks where attachment = /*attachment*/'native') then
    perform "unstuck".record_deliveries(/*attachment*/'native', /*table*/'jobs', p_at, p_events);
  end if;
  -- A role that only enqueues may not read the waits.
  if (p_events[1]).type = 'queued' then
    return cardinality(p_events);
  end if;
  -- Completions, which mostly write no event, notify themselves.
  if exists (select from "unstuck".waits where attachment = /*attachment*/'native') then
    perform "unstuck".notify_waits(/*attachment*/'native', array(
      select event.job_id from pg_catalog.unnest(p_events) event
       where event.type in ('failed', 'expired', 'cancelled', 'discarded', 'foreign_settle', 'reaper:cancelled',
                            'reaper:failed(timeout)')));
  end if;
  return cardinality(p_events);
end
$$;

-- Private: the detail of an event that names the sender of a worker's call, if known. Stable, so that it is inlined.
create or replace function "unstuck".acted_by(p_actor text)
returns jsonb language sql stable
return case when p_actor is null then '{}' else jsonb_build_object('actor', p_actor) end;
