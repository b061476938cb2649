DROP INDEX EmbeddingJobRecord_kind IF EXISTS
