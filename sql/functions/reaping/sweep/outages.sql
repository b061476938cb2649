-- Private: outages after which the database has been available for less than a lease in total. Workers cut off by an
-- earlier one have had a whole lease to renew, however often it was interrupted.
create or replace function "unstuck".recent_outages(p_outages tstzmultirange, p_at timestamptz, p_lease_ms bigint)
returns tstzmultirange language sql immutable
begin atomic
  select coalesce(range_agg(outage), '{}')
    from (select outage, "unstuck".ms_between(upper(outage), p_at) - coalesce(
                   sum("unstuck".ms_between(lower(outage), upper(outage))) over (
                     order by outage desc rows between unbounded preceding and 1 preceding), 0) as there_ms
            from unnest(p_outages) outage) known
   where there_ms < p_lease_ms;
end;

-- Private: outages without times after now, which are from before the clock was set back: such an outage would hold
-- every lease until then.
create or replace function "unstuck".past_outages(p_outages tstzmultirange)
returns tstzmultirange language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return p_outages * tstzmultirange(tstzrange(null, clock_timestamp(), '[]'));
end
$$;

-- Private: since when the sweeps of a reaper fail. If the clock has stepped meanwhile, counting back ends too late.
create or replace function "unstuck".failing_since(p_reaper jsonb, p_now timestamptz)
returns timestamptz language sql stable
return case when (p_reaper ->> 'failing_for_ms')::numeric > 0 then least(
  "unstuck".after_ms(p_now, -round((p_reaper ->> 'failing_for_ms')::numeric, 3)::float8),
  (p_reaper ->> 'last_swept_at')::timestamptz) end;

-- Private: a shorter step of the clock ends no lease that is renewed in time.
create or replace function "unstuck".least_step_ms(p_shortest_lease_ms bigint)
returns float8 language sql immutable
return least(5000::float8, p_shortest_lease_ms::float8 / 2::float8);

-- Private: identifies one run of the server (C26). After a killed backend, the server ends all sessions, recovers and
-- keeps its start time, but resets its statistics. A promoted standby has a new timeline. A restored backup is another
-- database or has another table.
create or replace function "unstuck".server_epoch()
returns text language sql stable set search_path = pg_catalog, pg_temp as $$
  select concat_ws(' ', "unstuck".iso_utc(pg_postmaster_start_time()), "unstuck".iso_utc(stats.stats_reset),
                   left(pg_walfile_name(pg_current_wal_lsn()), 8), database.oid,
                   to_regclass(format('%I.sweeps', /*schema*/'unstuck'))::oid)
    from pg_stat_bgwriter stats, pg_database database
   where database.datname = current_database()
$$;

-- Private: leases that a step of a sweep leaves, by when they ended: in the outage, and in a later step, if there is
-- none, since the first one. That one alone looks for an outage, and a later step may come long after it.
create or replace function "unstuck".step_hold(p_reaper jsonb, p_cursor jsonb, p_is_first boolean)
returns tstzrange language sql stable
return case
  when p_cursor ->> 'outage_to' is not null then tstzrange(
    (p_cursor ->> 'outage_from')::timestamptz, (p_cursor ->> 'outage_to')::timestamptz, '[]')
  when p_reaper is not null and not p_is_first then tstzrange(
    (p_cursor ->> 'began_at')::timestamptz, greatest((p_cursor ->> 'began_at')::timestamptz, now()), '[]') end;
