select id::text, job_id, type, data, "unstuck".iso_utc(at) as at
  from "unstuck".events
 where attachment = /*attachment*/'native' and job_id = $1::text
 order by events.id
