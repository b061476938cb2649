select id::text, attachment, job_id, type, data, "unstuck".iso_utc(at) as at
  from "unstuck".events
 where events.id = any ($1::text[]::bigint[])
 order by events.id
