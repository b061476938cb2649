MATCH (j:EmbeddingJob)
WHERE j.active_key IN $keys
RETURN properties(j) AS job
