// Retention. Each is looked at again under its lock: what was brought back meanwhile stays.
CALL apoc.periodic.iterate(
  'UNWIND $ids AS id MATCH (j:EmbeddingJob {id: id}) RETURN j',
  'SET j.touched = true
   WITH j
   WHERE j.status IN ["completed", "failed"] AND j.ended_at < $before
   OPTIONAL MATCH (e:EmbeddingJobEvent {job_id: j.id})
   DETACH DELETE j, e',
  {batchSize: 100, parallel: false, retries: 3, params: {ids: $ids, before: $before}}
) YIELD failedOperations, errorMessages
RETURN failedOperations, errorMessages
