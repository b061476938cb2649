update raw_jobs set status = 'running', attempt = attempt + 1, lease_id = $1, started_at = now(),
       lease_expires_at = now() + interval '5 min'
 where id = any (array(
   select id from raw_jobs
    where queue = 'noop' and status = 'waiting' and run_at <= now() and (priority, run_at, id) > ($3, $4, $5)
    order by priority, run_at, id limit $2 for update skip locked))
returning id, payload, priority, run_at
