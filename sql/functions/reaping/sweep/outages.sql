-- Private: the outages since which the database had been there, at this time, for less than a lease in all: whoever
-- could not renew in an earlier one has had a whole lease to do it, however often it was interrupted.
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

-- Private: tells one life of the server from the next (C26). After a killed backend it ends all sessions, recovers
-- and keeps its start time, but its statistics are reset. A promoted standby has a new timeline. What came back from
-- a backup, maybe on the same server, is another database or has another table.
create or replace function "unstuck".server_epoch()
returns text language sql stable set search_path = pg_catalog, pg_temp as $$
  select concat_ws(' ', "unstuck".iso_utc(pg_postmaster_start_time()), "unstuck".iso_utc(stats.stats_reset),
                   left(pg_walfile_name(pg_current_wal_lsn()), 8), database.oid,
                   to_regclass(format('%I.sweeps', /*schema*/'unstuck'))::oid)
    from pg_stat_bgwriter stats, pg_database database
   where database.datname = current_database()
$$;
