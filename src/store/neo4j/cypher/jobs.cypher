// Job nodes.

// name: read_job
MATCH (j:EmbeddingJob {id: $id})
RETURN properties(j) AS job;

// name: list_jobs
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
LIMIT $limit;

// name: list_running_jobs
// Few jobs run at a time, so they are found by status.
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
LIMIT $limit;

// name: list_jobs_by_id
MATCH (j:EmbeddingJob)
WHERE j.id IN $ids
RETURN properties(j) AS job;

// name: list_running
MATCH (j:EmbeddingJob)
USING INDEX SEEK j:EmbeddingJob(status)
WHERE j.status = 'processing' AND j.id >= ''
RETURN properties(j) AS job;

// name: list_dead
MATCH (j:EmbeddingJob)
WHERE j.status = 'failed' AND coalesce(j.error_code, '') <> 'cancelled' AND ($owner IS NULL OR j.owner = $owner)
RETURN properties(j) AS job
ORDER BY j.id DESC
LIMIT $limit;

// name: find_job_ids
MATCH (j:EmbeddingJob)
WHERE j.id STARTS WITH $prefix
RETURN j.id AS jobId
ORDER BY j.id
LIMIT $limit;

// name: find_key_holders
MATCH (j:EmbeddingJob)
WHERE j.active_key IN $keys
RETURN properties(j) AS job;

// name: read_schedule_types
// Types of the unfinished jobs of a schedule.
MATCH (j:EmbeddingJob)
USING INDEX SEEK j:EmbeddingJob(dedupe_key)
WHERE j.dedupe_key = $key AND j.status IN ['pending', 'processing']
RETURN DISTINCT j.type AS type;

// name: waiting_queues
// Reads $limit waiting jobs: an index that starts with the queue would lead through finished ones.
MATCH (j:EmbeddingJob)
USING INDEX SEEK j:EmbeddingJob(status)
WHERE j.status = 'pending'
WITH j LIMIT $limit
RETURN j.queue AS queue, count(*) AS waiting
ORDER BY queue;

// name: next_level
MATCH (j:EmbeddingJob)
USING INDEX SEEK j:EmbeddingJob(queue, status, priority, due_at, id)
WHERE j.queue = $queue AND j.status = 'pending' AND j.priority > $priority AND j.due_at IS NOT NULL
  AND j.id IS NOT NULL
RETURN j.priority AS priority, j.due_at AS due, j.due_at <= datetime.statement() AS isDue
ORDER BY j.queue, j.status, j.priority, j.due_at
LIMIT 1;

// name: count_waiting
// Reads $share jobs of each queue, next to run first.
UNWIND $queues AS queue
CALL {
  WITH queue
  MATCH (j:EmbeddingJob)
  USING INDEX SEEK j:EmbeddingJob(queue, status, priority, due_at, id)
  WHERE j.queue = queue AND j.status = 'pending' AND j.priority IS NOT NULL AND j.due_at IS NOT NULL
    AND j.id IS NOT NULL
  WITH j ORDER BY j.queue, j.status, j.priority, j.due_at LIMIT $share
  WITH j.due_at AS due, datetime.statement() AS now, coalesce(j.releases, 0) AS releases, j.started_at AS started
  RETURN count(*) AS waiting, sum(CASE WHEN due <= now THEN 1 ELSE 0 END) AS due,
         sum(CASE WHEN releases >= 20 OR (releases > 0 AND started <= now - duration({hours: 24})) THEN 1 ELSE 0 END)
           AS releasedOften,
         min(CASE WHEN due <= now THEN due END) AS oldestDue
}
RETURN queue, waiting, due, releasedOften, oldestDue;

// name: count_ahead
MATCH (j:EmbeddingJob)
USING INDEX SEEK j:EmbeddingJob(queue, status, priority, due_at, id)
WHERE j.queue = $queue AND j.status = 'pending' AND j.priority <= $priority AND j.due_at <= datetime.statement()
  AND j.id IS NOT NULL
  AND (j.priority < $priority OR j.due_at < $due OR (j.due_at = $due AND j.id < $id))
WITH j LIMIT 1000
RETURN count(j) AS ahead;

// name: lock_jobs
// The write takes the lock; the returned properties are read under it.
UNWIND $ids AS id
MATCH (j:EmbeddingJob {id: id})
SET j.touched = true
RETURN properties(j) AS job;

// name: create_jobs
UNWIND $rows AS row
CREATE (j:EmbeddingJob:EmbeddingJobKnown)
SET j = row;

// name: write_jobs
// Other properties of the node belong to the application.
UNWIND $rows AS row
MATCH (j:EmbeddingJob {id: row.id})
SET j += row;

// name: delete_jobs
UNWIND $ids AS id
MATCH (j:EmbeddingJob {id: id})
OPTIONAL MATCH (e:EmbeddingJobEvent {job_id: id})
DETACH DELETE j, e;
