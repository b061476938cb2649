select id::text, attachment, job_id, type, data, "unstuck".iso_utc(at) as at
  from "unstuck".events
 where events.id > $1::bigint
 order by events.id
 limit $2::int
