update unstuck.jobs
   set status = 'succeeded', finished_at = now(), updated_at = now(), worker_id = null
 where id = any ($1)
