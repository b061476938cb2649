-- One bounded step of a sweep. The first step looks for an outage of the database to wait out; every step reaps a
-- batch; the last one also ends what no claim will take, reports what it cannot judge, and leaves the reaper's pulse.
-- p_reaper: { reaper_id, last_swept_at, elapsed_ms, failing_for_ms }; NULL for a call by hand, which is never held and
-- leaves no pulse, but the name of p_actor. Goes on with p_cursor = the answer's next, until that is null. In mode
-- observe the sweep of a reaper notes what it would do, and touches no job.
create or replace function "unstuck"."sweep_jobs"(
  p_reaper jsonb default null, p_limit int default 1000, p_cursor jsonb default null, p_policy jsonb default null,
  p_actor text default null, p_reason text default null)
returns jsonb language plpgsql as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_now timestamptz := clock_timestamp();
  v_cursor jsonb;
  v_reaped jsonb;
  v_last text;
  v_is_last boolean;
  v_skipped int := 0;
  v_counts jsonb;
  v_is_observed boolean := p_reaper is not null and exists (
    select from "unstuck".attachments where name = /*attachment*/'native' and mode = 'observe');
begin
  perform "unstuck".require_reaper(p_reaper);
  perform "unstuck".require_cursor(p_cursor, pg_typeof(null::/*id*/uuid)::text);
  v_cursor := coalesce(p_cursor, "unstuck"."begin_sweep"(p_reaper, v_policy));
  if v_is_observed then
    select reported, last_id, is_last into v_reaped, v_last, v_is_last
      from "unstuck"."observe_jobs"(p_limit, v_cursor, v_policy);
  else
    select coalesce(jsonb_agg(to_jsonb(reaped) order by reaped.id::/*id*/uuid), '[]'),
           (array_agg(reaped.id order by reaped.id::/*id*/uuid desc))[1], count(*) < p_limit
      into v_reaped, v_last, v_is_last
      from "unstuck"."reap_jobs"(
        p_limit, (v_cursor ->> 'after')::/*id*/uuid, p_policy, (v_cursor ->> 'outage_from')::timestamptz,
        (v_cursor ->> 'outage_to')::timestamptz, round((v_cursor ->> 'spread_ms')::numeric, 3)::float8) reaped;
  end if;
  if v_is_last and not v_is_observed then
    v_reaped := v_reaped
      || (select coalesce(jsonb_agg(to_jsonb(buried)), '[]') from "unstuck"."bury_jobs"(p_limit, p_policy) buried);
  end if;
  if v_is_last then
    v_reaped := v_reaped
      || (select coalesce(jsonb_agg(to_jsonb(seen)), '[]') from "unstuck"."unjudged_jobs"(v_policy, 100) seen);
    if (v_cursor ->> 'expired')::int > 0 and not v_is_observed then
      v_skipped := "unstuck"."skipped_jobs"(v_cursor, v_policy);
    end if;
  end if;
  v_counts := "unstuck"."note_sweep"(p_reaper, v_cursor, v_reaped, v_skipped, p_actor, p_reason);
  if v_is_last then
    perform "unstuck".record_act(/*attachment*/'native', 'swept', null, p_actor, p_reason, v_counts);
    if p_reaper is not null then
      perform "unstuck"."leave_pulse"(p_reaper, v_cursor, v_counts);
    end if;
  end if;
  return jsonb_build_object(
    'reaped', v_reaped, 'held', v_cursor -> 'held', 'hold_reason', v_cursor -> 'hold_reason',
    'swept_at', "unstuck".iso_utc(v_now), 'counts', v_counts,
    'next', case when not v_is_last then v_cursor || jsonb_build_object('after', v_last) end);
end
$$;
