UNWIND $rows AS row
CREATE (j:EmbeddingJob)
SET j = row
