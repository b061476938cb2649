MATCH (j:EmbeddingJob)
WHERE j.status = 'failed' AND coalesce(j.error_code, '') <> 'cancelled' AND ($owner IS NULL OR j.owner = $owner)
RETURN properties(j) AS job
ORDER BY j.id DESC
LIMIT $limit
