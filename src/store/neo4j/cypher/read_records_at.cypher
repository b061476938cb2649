MATCH (r:EmbeddingJobRecord)
WHERE r.path IN $paths AND r.body IS NOT NULL
RETURN r.path AS path, r.body AS body
