// Candidates of a claim, and their locks. Both follow the index, whose order is that of the claim: they read as many nodes as
// they return, however many wait (ADR 0036).

// name: find_due
// The first $window jobs of each queue after a priority, due or not: later priorities may be due where this one is not. Takes
// no locks.
UNWIND $cursors AS cursor
CALL {
  WITH cursor
  MATCH (j:EmbeddingJob)
  USING INDEX SEEK j:EmbeddingJob(queue, status, priority, due_at, id)
  WHERE j.queue = cursor.queue AND j.status = 'pending' AND j.priority > cursor.after AND j.due_at IS NOT NULL
    AND j.id IS NOT NULL AND ($types IS NULL OR j.type IN $types) AND NOT j.id IN $passed
  WITH j ORDER BY j.queue, j.status, j.priority, j.due_at, j.id LIMIT $window
  RETURN j
}
RETURN j.id AS id, j.queue AS queue, j.priority AS priority, j.due_at.epochMillis AS dueMs,
       j.due_at <= datetime.statement() AS isDue, coalesce(j.bucket, 0) AS bucket;

// name: lock_due
// Locks the buckets in one global order, then the jobs. Each job is read again under its lock. A claim of one bucket finds its
// jobs among the first $window of each priority.
UNWIND $buckets AS path
MERGE (b:EmbeddingJobBucket {path: path})
SET b.touched = true
WITH count(*) AS locked
UNWIND $levels AS level
CALL {
  WITH level
  MATCH (j:EmbeddingJob)
  USING INDEX SEEK j:EmbeddingJob(queue, status, priority, due_at, id)
  WHERE j.queue = level.queue AND j.status = 'pending' AND j.priority = level.priority
    AND j.due_at <= datetime.realtime() AND j.id IS NOT NULL
    AND ($types IS NULL OR j.type IN $types) AND NOT j.id IN $passed
  WITH j ORDER BY j.queue, j.status, j.priority, j.due_at, j.id LIMIT $window
  WITH j WHERE $bucket IS NULL OR coalesce(j.bucket, 0) = $bucket
  RETURN j LIMIT $limit
}
WITH j ORDER BY j.priority, j.due_at, j.id LIMIT $limit
WITH j ORDER BY j.id
SET j.touched = true
RETURN properties(j) AS job;
