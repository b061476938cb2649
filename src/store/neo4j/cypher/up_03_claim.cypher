CREATE INDEX EmbeddingJob_claim IF NOT EXISTS FOR (j:EmbeddingJob) ON (j.queue, j.status, j.priority, j.due_at)
