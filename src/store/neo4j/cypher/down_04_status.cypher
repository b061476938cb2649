DROP INDEX EmbeddingJob_status IF EXISTS
