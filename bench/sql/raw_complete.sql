update raw_jobs set status = 'succeeded', finished_at = now(), lease_expires_at = null, lease_id = null
 where id = any ($1) and lease_id = $2
