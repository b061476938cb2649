-- Private: holds back after an outage (C9, C26). Distinguishes an outage of the database from dead workers, by what
-- this reaper and the server report and by which workers are silent. Returns the cursor of the sweep. A reaper that
-- was not running is no outage: workers could renew.
create or replace function "unstuck"."begin_sweep"(p_reaper jsonb, p_policy "unstuck".policies, p_has_waited boolean)
returns jsonb language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_last "unstuck".sweeps;
  v_swept_at timestamptz := (p_reaper ->> 'last_swept_at')::timestamptz;
  v_expected_at timestamptz := "unstuck".after_ms(v_swept_at, round((p_reaper ->> 'elapsed_ms')::numeric, 3)::float8);
  v_failing_since timestamptz := "unstuck".failing_since(p_reaper, v_now);
  v_unjudged_from timestamptz; v_expired int;
  v_shortest_ms bigint; v_longest_ms bigint;
  v_is_mass boolean;
  v_held int := 0;
  v_from timestamptz;
  v_reason text;
begin
  select * into v_last from "unstuck".sweeps where attachment = /*attachment*/'native' and p_reaper is not null;
  v_last.outages := "unstuck".past_outages(v_last.outages);
  -- A sweep after now says nothing about who gets through.
  v_last.reached_at := case when v_last.reached_at <= clock_timestamp() then v_last.reached_at end;
  if p_has_waited then
    v_last.locked_since := coalesce(v_last.locked_since, v_last.swept_at, v_now);
  end if;
  -- Leases that ended before the end of a known outage were judged with it: no lease is part of two masses.
  -- A reaper that left sweeps to others has judged nothing since the start of the last one.
  v_unjudged_from := case when v_swept_at is not null then greatest(
    least(v_swept_at, "unstuck".after_ms(v_last.swept_at, -v_last.duration_ms)), upper(v_last.outages)) end;
  select * into v_expired, v_shortest_ms, v_longest_ms, v_is_mass
    from "unstuck"."running_signs"(p_policy, v_now, v_unjudged_from);

  -- After a failover, the new server may have been started before the old one.
  if v_last.server_started_at <> pg_postmaster_start_time() or v_last.server_epoch <> "unstuck".server_epoch() then
    v_from := v_last.swept_at;
    v_reason := 'server-restarted';
  -- The table may have been locked this long. No lease that is renewed in time ends within half a lease.
  elsif "unstuck".ms_between(v_last.locked_since, v_now) > v_shortest_ms::float8 / 2::float8 then
    v_from := v_last.locked_since;
    v_reason := 'table-locked';
  -- A reaper that got through since has judged everything before. If that is at most half a lease ago, no lease that is
  -- renewed in time can have ended since, and the problem was this reaper's own network.
  elsif v_failing_since < v_now and (
      coalesce(v_last.reached_at <= v_failing_since, true)
      or "unstuck".ms_between(v_last.reached_at, v_now) > v_shortest_ms::float8 / 2::float8) then
    v_from := greatest(v_failing_since, v_last.reached_at);
    v_reason := 'sweeps-failed';
  -- A reaper that got through after it has judged it. A sweep long on its way looks like a step, and may meet a mass.
  elsif "unstuck".ms_between(v_expected_at, v_now) > "unstuck".least_step_ms(v_shortest_ms) and coalesce(
      "unstuck".ms_between(v_expected_at, v_last.reached_at) <= "unstuck".least_step_ms(v_shortest_ms), true) then
    v_from := case when v_is_mass then v_unjudged_from else v_expected_at end;
    v_reason := 'clock-stepped';
  elsif v_is_mass then
    v_from := v_unjudged_from;
    v_reason := 'mass-expiry';
  end if;
  if v_reason is not null then
    -- Until now, not until the server was up: nobody could renew during recovery.
    v_from := least(v_from, v_now);
    v_last.outages := "unstuck".recent_outages(v_last.outages, v_from, v_longest_ms)
                       operator(pg_catalog.+) tstzmultirange(tstzrange(v_from, v_now, '[]'));
    v_last.hold_reason := v_reason;
  end if;
  if v_now < "unstuck".after_ms(upper(v_last.outages), v_longest_ms) then
    select count(*) into v_held from "unstuck"."running_jobs"(p_policy)
     where ended_at < clock_timestamp()
       and "unstuck".is_held(lower(v_last.outages), upper(v_last.outages), ended_at, heartbeat_at, lease_ms);
  end if;
  return jsonb_build_object(
    'sweep_id', "unstuck".uuid_v7(v_now), 'began_at', "unstuck".iso_utc(v_now), 'expired', v_expired, 'held', v_held,
    'outage_from', lower(v_last.outages), 'outage_to', upper(v_last.outages), 'locked_since', v_last.locked_since,
    'found_from', v_from, 'found_reason', v_reason,
    'hold_reason', case when v_held > 0 then v_last.hold_reason end,
    'spread_ms', "unstuck".spread_ms(p_policy, greatest(v_expired - v_held, 0)));
end
$$;
