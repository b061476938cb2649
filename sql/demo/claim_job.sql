update "demo".jobs set status = 'processing', worker = $1, started_at = now()
 where id = (select id from "demo".jobs where status = 'waiting' order by id limit 1 for update skip locked)
returning id::text, kind, duration_ms
