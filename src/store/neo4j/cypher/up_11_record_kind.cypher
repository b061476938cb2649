CREATE INDEX EmbeddingJobRecord_kind IF NOT EXISTS FOR (r:EmbeddingJobRecord) ON (r.kind)
