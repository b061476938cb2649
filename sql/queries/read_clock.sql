select "unstuck".iso_utc(clock_timestamp()) as now,
       (select coalesce(max(id), 0)::text from "unstuck".events) as last_event_id
