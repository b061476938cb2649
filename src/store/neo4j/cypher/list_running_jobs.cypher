// Of the jobs that run there are few, and of all others many: these are found by their status.
MATCH (j:EmbeddingJob)
USING INDEX SEEK j:EmbeddingJob(status)
WHERE j.status = 'processing' AND j.id < $before
  AND ($type IS NULL OR j.type = $type)
  AND ($queue IS NULL OR j.queue = $queue)
  AND ($owner IS NULL OR j.owner = $owner)
  AND ($lockOwner IS NULL OR j.lock_owner = $lockOwner)
  AND ($errorCode IS NULL OR j.error_code = $errorCode)
  AND ($causeId IS NULL OR j.cause_id = $causeId)
RETURN properties(j) AS job
ORDER BY j.id DESC
LIMIT $limit
