DROP INDEX EmbeddingJob_ended IF EXISTS
