MATCH (e:EmbeddingJobEvent)
WHERE e.id < $before
RETURN e.id AS id
ORDER BY e.id DESC
SKIP $skip
LIMIT 1
