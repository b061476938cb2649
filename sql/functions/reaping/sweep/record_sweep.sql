-- Private: adds a step of a sweep to its history and returns the counts so far. A sweep that found nothing has no row.
create or replace function "unstuck"."record_sweep"(
  p_reaper jsonb, p_cursor jsonb, p_reaped "unstuck".reaped_job[], p_skipped int, p_actor text, p_reason text)
returns jsonb language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_began_at timestamptz := (p_cursor ->> 'began_at')::timestamptz;
  v_row "unstuck".sweep_history;
begin
  -- Rows that no rule can judge are reported by every sweep: they do not count as found.
  select count(*) filter (where reaped.reason is distinct from 'no_lease_to_judge_by'),
         count(*) filter (where reaped.action = 'requeued'), count(*) filter (where reaped.action = 'dead'),
         count(*) filter (where reaped.action = 'cancelled')
    into v_row.found, v_row.requeued, v_row.dead, v_row.cancelled
    from unnest(p_reaped) reaped;
  v_row.held := case when p_cursor ->> 'after' is null then coalesce((p_cursor ->> 'held')::int, 0) else 0 end;
  v_row.found := v_row.found + v_row.held + p_skipped;
  v_row.duration_ms := coalesce("unstuck".ms_between(v_began_at, v_now), 0);
  if p_cursor ->> 'sweep_id' is not null then
    insert into "unstuck".sweep_history as known
      (attachment, id, began_at, reaper_id, actor, reason, duration_ms, found, requeued, dead, cancelled, skipped, held,
       hold_reason)
    select /*attachment*/'native', (p_cursor ->> 'sweep_id')::uuid, coalesce(v_began_at, v_now),
           p_reaper ->> 'reaper_id', p_actor, p_reason, v_row.duration_ms, v_row.found, v_row.requeued, v_row.dead,
           v_row.cancelled, p_skipped, v_row.held, p_cursor ->> 'hold_reason'
     where v_row.found > 0
    on conflict (attachment, id) do update
       set duration_ms = excluded.duration_ms, found = known.found + excluded.found,
           requeued = known.requeued + excluded.requeued, dead = known.dead + excluded.dead,
           cancelled = known.cancelled + excluded.cancelled, skipped = known.skipped + excluded.skipped,
           held = known.held + excluded.held;
  end if;
  return (
    select jsonb_build_object(
             'duration_ms', v_row.duration_ms, 'found', coalesce(kept.found, 0), 'requeued', coalesce(kept.requeued, 0),
             'dead', coalesce(kept.dead, 0), 'cancelled', coalesce(kept.cancelled, 0),
             'skipped', coalesce(kept.skipped, 0), 'held', coalesce(kept.held, 0))
      from (select) one
      left join "unstuck".sweep_history kept
        on kept.attachment = /*attachment*/'native' and kept.id = (p_cursor ->> 'sweep_id')::uuid);
end
$$;
