select id::text as id, job_id, type, (extract(epoch from at) * 1000)::float8 as at_ms, data -> 'details' as details
  from unstuck.events where attachment = $1 order by events.id
