-- Sweeps that found something, newest first. p_before is the last id of an earlier page.
create or replace function "unstuck"."list_sweeps"(p_before uuid default null, p_limit int default 100)
returns table (id text, began_at timestamptz, reaper_id text, actor text, reason text, duration_ms float8, found int,
               requeued int, dead int, cancelled int, skipped int, held int, hold_reason text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".require(p_limit between 1 and 1000, 'limit', p_limit::text, 'a whole number from 1 to 1000');
  return query
  select sweep.id::text, sweep.began_at, sweep.reaper_id, sweep.actor, sweep.reason, sweep.duration_ms, sweep.found,
         sweep.requeued, sweep.dead, sweep.cancelled, sweep.skipped, sweep.held, sweep.hold_reason
    from "unstuck".sweep_history sweep
   where sweep.attachment = /*attachment*/'native' and (p_before is null or sweep.id < p_before)
   order by sweep.id desc limit p_limit;
end
$$;
