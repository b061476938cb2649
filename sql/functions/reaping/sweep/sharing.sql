-- Private: did anybody sweep the table within this time? One sweep serves the whole fleet (REAP-17). A sweep in the
-- future was made before the clock was set back: it says nothing, or nobody would sweep until then.
create or replace function "unstuck".is_swept(p_attachment text, p_within_ms float8)
returns boolean language sql volatile set search_path = pg_catalog, pg_temp as $$
  select coalesce((select "unstuck".after_ms(swept_at, p_within_ms) > now.at and swept_at <= now.at
                     from "unstuck".sweeps, (select clock_timestamp() as at) now
                    where attachment = p_attachment), false)
$$;

-- Private: what a worker that leaves the sweeps to another one needs to know: are they late, and is anybody missing
-- among the sessions that watch for gone workers? The margin lets the one who sweeps come first.
create or replace function "unstuck".sweep_state(
  p_attachment text, p_interval_ms bigint, out is_sweep_due boolean, out is_watched boolean, out reported_at text)
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  is_sweep_due := p_interval_ms is not null and not "unstuck".is_swept(p_attachment, 1.1 * p_interval_ms);
  is_watched := coalesce((select watchers >= 2 from "unstuck".sweeps where attachment = p_attachment), true);
  reported_at := "unstuck".iso_utc(clock_timestamp());
end
$$;

-- Private: the step of a sweep that judged nothing. p_is_redundant: because another reaper has just swept.
create or replace function "unstuck".empty_step(p_began_at timestamptz, p_hold_reason text, p_is_redundant boolean)
returns json language sql volatile set search_path = pg_catalog, pg_temp as $$
  select json_build_object(
    'reaped', '[]'::json, 'held', 0, 'hold_reason', p_hold_reason, 'swept_at', "unstuck".iso_utc(p_began_at),
    'counts', json_build_object('duration_ms', "unstuck".ms_between(p_began_at, clock_timestamp()), 'found', 0,
                                'requeued', 0, 'dead', 0, 'cancelled', 0, 'skipped', 0, 'held', 0),
    'is_redundant', p_is_redundant, 'next', null)
$$;
