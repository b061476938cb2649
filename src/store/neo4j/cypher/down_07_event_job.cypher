DROP INDEX EmbeddingJobEvent_job IF EXISTS
