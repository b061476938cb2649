CREATE CONSTRAINT EmbeddingJobEvent_id IF NOT EXISTS FOR (e:EmbeddingJobEvent) REQUIRE e.id IS UNIQUE
