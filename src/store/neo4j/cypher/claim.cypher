// Candidates of a claim, and their locks.

// name: find_due
// Buckets of the next jobs. Takes no locks.
UNWIND $queues AS queue
CALL {
  WITH queue
  MATCH (j:EmbeddingJob)
  USING INDEX SEEK j:EmbeddingJob(queue, status, priority, due_at)
  WHERE j.queue = queue AND j.status = 'pending' AND j.priority IS NOT NULL AND j.due_at <= datetime.statement()
    AND ($types IS NULL OR j.type IN $types) AND NOT j.id IN $passed
  RETURN j ORDER BY j.priority, j.due_at, j.id LIMIT $limit
}
WITH j ORDER BY j.priority, j.due_at, j.id LIMIT $limit
RETURN DISTINCT j.queue AS queue, j.bucket AS bucket;

// name: lock_due
// Locks the buckets in one global order, then the jobs. Each job is read again under its lock.
UNWIND $buckets AS path
MERGE (b:EmbeddingJobBucket {path: path})
SET b.touched = true
WITH count(*) AS locked
UNWIND $queues AS queue
CALL {
  WITH queue
  MATCH (j:EmbeddingJob)
  USING INDEX SEEK j:EmbeddingJob(queue, status, priority, due_at)
  WHERE j.queue = queue AND j.status = 'pending' AND j.priority IS NOT NULL AND j.due_at <= datetime.realtime()
    AND ($bucket IS NULL OR j.bucket = $bucket) AND ($types IS NULL OR j.type IN $types) AND NOT j.id IN $passed
  RETURN j ORDER BY j.priority, j.due_at, j.id LIMIT $limit
}
WITH j ORDER BY j.priority, j.due_at, j.id LIMIT $limit
WITH j ORDER BY j.id
SET j.touched = true
RETURN properties(j) AS job;
