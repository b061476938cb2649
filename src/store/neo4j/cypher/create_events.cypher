UNWIND $rows AS row
CREATE (e:EmbeddingJobEvent)
SET e = row
