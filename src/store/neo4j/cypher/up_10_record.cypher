CREATE CONSTRAINT EmbeddingJobRecord_path IF NOT EXISTS FOR (r:EmbeddingJobRecord) REQUIRE r.path IS UNIQUE
