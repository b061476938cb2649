CREATE INDEX EmbeddingJobEvent_job IF NOT EXISTS FOR (e:EmbeddingJobEvent) ON (e.job_id)
