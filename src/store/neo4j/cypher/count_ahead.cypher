MATCH (j:EmbeddingJob)
USING INDEX SEEK j:EmbeddingJob(queue, status, priority, due_at)
WHERE j.queue = $queue AND j.status = 'pending' AND j.priority <= $priority AND j.due_at <= datetime.statement()
  AND (j.priority < $priority OR j.due_at < $due OR (j.due_at = $due AND j.id < $id))
WITH j LIMIT 1000
RETURN count(j) AS ahead
