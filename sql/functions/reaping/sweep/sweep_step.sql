-- Private: the step of sweep_jobs as json text: a list of 1,000 jobs takes 2 ms less than as jsonb, which is built,
-- walked and printed again. p_is_listed: false leaves the list empty.
create or replace function "unstuck"."sweep_step"(
  p_reaper jsonb, p_limit int, p_cursor jsonb, p_policy jsonb, p_actor text, p_reason text, p_is_listed boolean)
returns json language plpgsql set enable_seqscan = off as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_now timestamptz := clock_timestamp();
  v_lock text; v_cursor jsonb; v_hold tstzrange;
  v_reaped "unstuck".reaped_job[];
  v_last text; v_is_last boolean;
  v_skipped int := 0;
  v_counts jsonb;
  v_watchers int;
begin
  perform "unstuck".require_reaper(p_reaper);
  perform "unstuck".require_cursor(p_cursor, /*id_type*/'uuid');
  if v_policy.is_observed and p_reaper is null then
    perform "unstuck".require_acting(/*attachment*/'native');
  end if;
  perform "unstuck".require_visible(to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs')));
  if p_cursor is null
      and "unstuck".is_swept(/*attachment*/'native', (p_reaper ->> 'interval_ms')::float8 * 0.9::float8) then
    return "unstuck".empty_step(v_now, null, true);
  end if;
  v_lock := case when p_cursor is null and p_reaper is not null then "unstuck"."lock_table"() else 'free' end;
  if v_lock = 'locked' then
    return "unstuck"."record_table_lock"(v_now);
  end if;
  if p_cursor is null and p_reaper is not null and v_policy.presence <> 'off' then
    select seen.watchers into v_watchers from "unstuck".look_at_workers(/*attachment*/'native') seen;
  end if;
  v_cursor := coalesce(p_cursor, "unstuck"."begin_sweep"(p_reaper, v_policy, v_lock = 'late')
                                   || jsonb_build_object('watchers', v_watchers));
  v_hold := "unstuck".step_hold(p_reaper, v_cursor, p_cursor is null);
  if v_policy.is_observed then
    select array(select seen from jsonb_populate_recordset(null::"unstuck".reaped_job, reported) seen), last_id, is_last
      into v_reaped, v_last, v_is_last
      from "unstuck"."observe_jobs"(p_limit, v_cursor, v_policy);
  -- Most sweeps find nothing, and preparing the reap is a third of the first sweep of a connection.
  elsif coalesce((v_cursor ->> 'expired')::int, 1) = 0
      and not exists (select from "unstuck".workers where attachment = /*attachment*/'native' and absent_at is not null)
  then
    perform "unstuck".require_reap(p_limit, null);
    v_reaped := '{}'; v_is_last := true;
  else
    v_reaped := array(
      select reaped
        from "unstuck"."reap_jobs"(
          p_limit, (v_cursor ->> 'after')::/*id*/uuid, p_policy, lower(v_hold), upper(v_hold),
          round((v_cursor ->> 'spread_ms')::numeric, 3)::float8) reaped);
    v_last := (v_reaped[cardinality(v_reaped)]).id;
    -- A reaper's reaps are committed first, and the next step closes the sweep. A manual call may be part of a
    -- transaction, and closes the sweep at once.
    v_is_last := cardinality(v_reaped) < case when p_reaper is null then p_limit else 1 end;
  end if;
  if v_is_last then
    v_reaped := array_cat(v_reaped, array(select seen from "unstuck"."unjudged_jobs"(v_policy, 100) seen));
    if (v_cursor ->> 'expired')::int > 0 and not v_policy.is_observed then
      v_skipped := "unstuck"."skipped_jobs"(v_cursor, v_policy);
    end if;
  end if;
  v_counts := "unstuck"."record_sweep"(p_reaper, v_cursor, v_reaped, v_skipped, p_actor, p_reason);
  if v_is_last then
    perform "unstuck".record_audit_entry(/*attachment*/'native', 'swept', null, p_actor, p_reason, v_counts);
    if p_reaper is not null then
      perform "unstuck"."record_reaper_heartbeat"(p_reaper, v_cursor, v_counts);
    end if;
  end if;
  return json_build_object(
    'reaped', case when p_is_listed then array_to_json(v_reaped) else '[]' end, 'held', v_cursor -> 'held',
    'hold_reason', v_cursor -> 'hold_reason', 'swept_at', "unstuck".iso_utc(v_now), 'counts', v_counts,
    'is_watched', coalesce(v_watchers >= 2, true),
    'next', case when not v_is_last then v_cursor || jsonb_build_object('after', v_last) end);
end
$$;
