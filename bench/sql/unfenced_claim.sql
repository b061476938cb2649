-- Writes the columns of a claim on the native table, without lease, deadline or budget.
update unstuck.jobs
   set status = 'running', worker_id = $1, attempt = attempt + 1, started_at = now(), updated_at = now()
 where id = any (array(
   select id from unstuck.jobs
    where status = 'waiting' and coalesce(queue, type) = 'noop' and priority = 0 and (group_key is not null)::int = 0
      and coalesce(run_at, created_at) <= now()
    order by coalesce(run_at, created_at), id limit $2 for update skip locked))
returning id, payload
