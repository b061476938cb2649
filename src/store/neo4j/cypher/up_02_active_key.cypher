CREATE CONSTRAINT EmbeddingJob_active_key IF NOT EXISTS FOR (j:EmbeddingJob) REQUIRE j.active_key IS UNIQUE
