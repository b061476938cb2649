CREATE CONSTRAINT EmbeddingJobBucket_path IF NOT EXISTS FOR (b:EmbeddingJobBucket) REQUIRE b.path IS UNIQUE
