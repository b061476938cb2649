MATCH (j:EmbeddingJob)
WHERE j.id STARTS WITH $prefix
RETURN j.id AS jobId
ORDER BY j.id
LIMIT $limit
