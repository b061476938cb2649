// Locks nothing: which buckets the next jobs are in.
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
RETURN DISTINCT j.queue AS queue, j.bucket AS bucket
