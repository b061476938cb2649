-- On the native table, with the columns that a claim has to write, but by whoever asks: no lease, deadline or budget.
update unstuck.jobs
   set status = 'running', worker_id = $1, attempt = attempt + 1, started_at = now(), updated_at = now()
 where id = any (array(
   select id from unstuck.jobs
    where status = 'waiting' and coalesce(queue, type) = 'noop' and priority = 0
      and coalesce(run_at, created_at) <= now()
    order by coalesce(run_at, created_at), id limit $2 for update skip locked))
returning id, payload
