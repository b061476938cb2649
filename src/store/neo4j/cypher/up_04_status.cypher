CREATE INDEX EmbeddingJob_status IF NOT EXISTS FOR (j:EmbeddingJob) ON (j.status)
