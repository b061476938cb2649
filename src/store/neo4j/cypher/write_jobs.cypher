// Other properties of the node are the application's.
UNWIND $rows AS row
MATCH (j:EmbeddingJob {id: row.id})
SET j += row
