UNWIND $ids AS id
MATCH (j:EmbeddingJob {id: id})
OPTIONAL MATCH (e:EmbeddingJobEvent {job_id: id})
DETACH DELETE j, e
