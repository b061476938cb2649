MATCH (j:EmbeddingJob)
WHERE j.id IN $ids
RETURN properties(j) AS job
