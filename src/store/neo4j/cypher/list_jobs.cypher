MATCH (j:EmbeddingJob)
WHERE j.id < $before
  AND ($status IS NULL OR j.status = $status)
  AND ($isCancelled IS NULL OR (coalesce(j.error_code, '') = 'cancelled') = $isCancelled)
  AND ($type IS NULL OR j.type = $type)
  AND ($queue IS NULL OR j.queue = $queue)
  AND ($owner IS NULL OR j.owner = $owner)
  AND ($lockOwner IS NULL OR j.lock_owner = $lockOwner)
  AND ($errorCode IS NULL OR j.error_code = $errorCode)
  AND ($causeId IS NULL OR j.cause_id = $causeId)
RETURN properties(j) AS job
ORDER BY j.id DESC
LIMIT $limit
