CREATE INDEX EmbeddingJob_ended IF NOT EXISTS FOR (j:EmbeddingJob) ON (j.ended_at)
