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
