MATCH (j:EmbeddingJob)
WHERE j.status = 'pending'
WITH j.queue AS queue, j.due_at AS due, datetime.statement() AS now
RETURN queue, count(*) AS waiting, sum(CASE WHEN due <= now THEN 1 ELSE 0 END) AS due, min(due) AS oldest
