// The write takes the lock; what is returned is read after it.
UNWIND $ids AS id
MATCH (j:EmbeddingJob {id: id})
SET j.touched = true
RETURN properties(j) AS job
