MATCH (j:EmbeddingJob)
WHERE j.status = 'processing'
RETURN properties(j) AS job
