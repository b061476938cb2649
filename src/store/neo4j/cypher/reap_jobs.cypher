// Recovery in batches of their own transactions. A job that is not as the sweep saw it is left alone.
CALL apoc.periodic.iterate(
  'UNWIND $rows AS row RETURN row',
  'MATCH (j:EmbeddingJob {id: row.job.id})
   SET j.touched = true
   WITH j, row
   WHERE j.status = row.seen.status AND coalesce(j.lease_id, "") = row.seen.lease_id
     AND coalesce(j.lock_until.epochMillis, 0) = row.seen.lock_until_ms
     AND coalesce(j.heartbeat_at.epochMillis, 0) = row.seen.heartbeat_at_ms
     AND coalesce(j.updated_at.epochMillis, 0) = row.seen.updated_at_ms
     AND coalesce(j.cancel_requested_at.epochMillis, 0) = row.seen.cancel_requested_at_ms
   SET j += row.job
   CREATE (e:EmbeddingJobEvent)
   SET e = row.event, e.written_by = $writer',
  {batchSize: 100, parallel: false, retries: 3, params: {rows: $rows, writer: $writer}}
) YIELD failedOperations, errorMessages
RETURN failedOperations, errorMessages
