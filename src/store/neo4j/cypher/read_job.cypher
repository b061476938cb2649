MATCH (j:EmbeddingJob {id: $id})
RETURN properties(j) AS job
