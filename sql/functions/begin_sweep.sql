-- Private: the brakes (C9). Tells an outage of the database from dead workers, by what this reaper and the server say
-- of themselves, and answers the cursor of the sweep. A reaper that was not running is no outage: workers could renew.
create or replace function "unstuck"."begin_sweep"(p_reaper jsonb, p_policy "unstuck".policies)
returns jsonb language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_pulse "unstuck".sweeps;
  v_last_swept_at timestamptz := (p_reaper ->> 'last_swept_at')::timestamptz;
  v_elapsed_ms float8 := round((p_reaper ->> 'elapsed_ms')::numeric, 3);
  v_failing_for_ms float8 := coalesce(round((p_reaper ->> 'failing_for_ms')::numeric, 3), 0);
  v_running int;
  v_expired int;
  v_ended_since int;
  v_shortest_ms bigint;
  v_longest_ms bigint;
  v_held int;
  v_failing_since timestamptz := "unstuck".after_ms(v_now, -v_failing_for_ms);
  v_from timestamptz;
  v_reason text;
begin
  select count(*), count(*) filter (where ended_at < v_now),
         count(*) filter (where ended_at < v_now and ended_at >= v_last_swept_at), min(lease_ms), max(lease_ms)
    into v_running, v_expired, v_ended_since, v_shortest_ms, v_longest_ms
    from "unstuck"."running_jobs"(p_policy);

  if p_reaper is not null then
    select * into v_pulse from "unstuck".sweeps where attachment = /*attachment*/'native';
    if v_pulse.server_started_at < pg_postmaster_start_time() then
      v_from := v_pulse.swept_at;
      v_reason := 'server-restarted';
    -- Whoever got through since has judged all before. If that is at most half a lease ago, no lease that is renewed in
    -- time can have ended since, and this reaper's own network was the trouble.
    elsif v_failing_for_ms > 0 and (
        coalesce(v_pulse.reached_at <= v_failing_since, true)
        or "unstuck".ms_between(v_pulse.reached_at, v_now) > v_shortest_ms / 2.0) then
      v_from := greatest(v_failing_since, v_pulse.reached_at);
      v_reason := 'sweeps-failed';
    elsif "unstuck".ms_between(v_last_swept_at, v_now) - v_elapsed_ms > 5000 then
      v_from := "unstuck".after_ms(v_last_swept_at, v_elapsed_ms);
      v_reason := 'clock-stepped';
    -- Ends by itself: what is held still runs, so each further mass must be larger than all before it together.
    elsif v_running >= 10 and v_ended_since > v_running / 2 then
      v_from := v_last_swept_at;
      v_reason := 'mass-expiry';
    end if;
    if v_reason is not null then
      -- Two reapers see one outage from different ticks, and a second outage may begin while the first is waited out:
      -- what is held is not let go. It lasts until now, not until the server was up: recovery may have taken minutes
      -- in which nobody could renew.
      v_pulse.outage_from := least(v_from, case when "unstuck".after_ms(v_pulse.outage_to, v_longest_ms) >= v_from
                                                then v_pulse.outage_from end);
      v_pulse.outage_to := v_now;
      v_pulse.hold_reason := v_reason;
    end if;
    select count(*) into v_held from "unstuck"."running_jobs"(p_policy)
     where ended_at < clock_timestamp()
       and "unstuck".is_held(v_pulse.outage_from, v_pulse.outage_to, ended_at, heartbeat_at, lease_ms);
  end if;
  return jsonb_build_object(
    'sweep_id', "unstuck".uuid_v7(v_now), 'began_at', "unstuck".iso_utc(v_now), 'expired', v_expired,
    'outage_from', v_pulse.outage_from, 'outage_to', v_pulse.outage_to, 'held', coalesce(v_held, 0),
    'hold_reason', case when v_held > 0 then v_pulse.hold_reason end, 'outage_reason', v_pulse.hold_reason,
    'spread_ms', "unstuck".spread_ms(p_policy, greatest(v_expired - coalesce(v_held, 0), 0)));
end
$$;
