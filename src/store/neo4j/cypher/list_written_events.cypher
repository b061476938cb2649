// Another sweep of the same moment may have given the same ids.
MATCH (e:EmbeddingJobEvent)
WHERE e.id IN $ids AND e.written_by = $writer
RETURN e.job_id AS jobId
