MATCH (e:EmbeddingJobEvent)
WHERE e.job_id IN $jobIds
RETURN properties(e) AS event, 'EmbeddingJob' AS table
ORDER BY e.id
