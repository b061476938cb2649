MATCH (j:EmbeddingJob)
USING INDEX SEEK j:EmbeddingJob(ended_at)
WHERE j.ended_at < $before AND j.status IN ['completed', 'failed']
RETURN j.id AS id
LIMIT $limit
