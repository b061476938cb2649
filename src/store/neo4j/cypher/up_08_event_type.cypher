CREATE INDEX EmbeddingJobEvent_type IF NOT EXISTS FOR (e:EmbeddingJobEvent) ON (e.type, e.at)
