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
