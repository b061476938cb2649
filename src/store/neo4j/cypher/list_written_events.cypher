MATCH (e:EmbeddingJobEvent)
WHERE e.id IN $ids
RETURN e.job_id AS jobId
