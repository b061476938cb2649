DROP INDEX EmbeddingJobEvent_type IF EXISTS
