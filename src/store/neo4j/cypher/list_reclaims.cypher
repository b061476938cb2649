MATCH (e:EmbeddingJobEvent)
WHERE e.type IN ['reaper:requeued', 'reaper:failed(timeout)', 'reaper:cancelled'] AND e.at IS NOT NULL
  AND ($before IS NULL OR e.id < $before)
  AND ($lockOwner IS NULL OR e.lock_owner = $lockOwner) AND ($stage IS NULL OR e.stage = $stage)
RETURN e.job_id AS jobId
ORDER BY e.id DESC
LIMIT $limit
