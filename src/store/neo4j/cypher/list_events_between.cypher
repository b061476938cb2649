MATCH (e:EmbeddingJobEvent)
WHERE e.id > $after AND e.id < $before
RETURN properties(e) AS event, 'EmbeddingJob' AS table
ORDER BY e.id
LIMIT $limit
