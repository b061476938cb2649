select id::text, kind, status, worker, (extract(epoch from now() - started_at) * 1000)::float8 as age_ms
  from "demo".jobs order by jobs.id
