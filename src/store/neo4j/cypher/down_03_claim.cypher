DROP INDEX EmbeddingJob_claim IF EXISTS
