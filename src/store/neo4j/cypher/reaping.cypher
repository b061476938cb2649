// Sweeps, rescues and retention.

// name: reap_jobs
// Reaps in batches with their own transactions. A job that changed since the sweep read it is skipped.
CALL apoc.periodic.iterate(
  'UNWIND $rows AS row RETURN row',
  'MATCH (j:EmbeddingJob {id: row.job.id})
   SET j.touched = true
   WITH j, row
   WHERE j.status IN row.seen.statuses AND coalesce(j.lease_id, "") = row.seen.lease_id
     AND coalesce(asTime(j.lock_until).epochMillis, 0) = row.seen.lock_until_ms
     AND coalesce(asTime(j.heartbeat_at).epochMillis, 0) = row.seen.heartbeat_at_ms
     AND coalesce(asTime(j.updated_at).epochMillis, 0) = row.seen.updated_at_ms
     AND coalesce(asTime(j.cancel_requested_at).epochMillis, 0) = row.seen.cancel_requested_at_ms
   SET j += row.job
   CREATE (e:EmbeddingJobEvent)
   SET e = row.event, e.written_by = $writer',
  {batchSize: 100, parallel: false, retries: 3, params: {rows: $rows, writer: $writer}}
) YIELD failedOperations, errorMessages
RETURN failedOperations, errorMessages;

// name: list_written_events
// A concurrent sweep may have generated the same ids.
MATCH (e:EmbeddingJobEvent)
WHERE e.id IN $ids AND e.written_by = $writer
RETURN e.job_id AS jobId;

// name: list_reclaims
MATCH (e:EmbeddingJobEvent)
WHERE e.type IN ['reaper:requeued', 'reaper:failed(timeout)', 'reaper:cancelled'] AND e.at IS NOT NULL
  AND ($before IS NULL OR e.id < $before)
  AND ($lockOwner IS NULL OR e.lock_owner = $lockOwner) AND ($stage IS NULL OR e.stage = $stage)
RETURN e.job_id AS jobId
ORDER BY e.id DESC
LIMIT $limit;

// name: list_rescues
// Jobs claimed again after a reap.
MATCH (e:EmbeddingJobEvent {type: 'processing'})
WHERE e.at > datetime.statement() - duration({milliseconds: $windowMs})
RETURN DISTINCT e.job_id AS jobId;

// name: find_prunable
MATCH (j:EmbeddingJob)
USING INDEX SEEK j:EmbeddingJob(ended_at)
WHERE j.ended_at < $before AND j.status IN ['completed', 'failed']
RETURN j.id AS id
LIMIT $limit;

// name: prune_jobs
// Checks each job again under its lock: one that was retried meanwhile stays.
CALL apoc.periodic.iterate(
  'UNWIND $ids AS id MATCH (j:EmbeddingJob {id: id}) RETURN j',
  'SET j.touched = true
   WITH j
   WHERE j.status IN ["completed", "failed"] AND j.ended_at < $before
   OPTIONAL MATCH (e:EmbeddingJobEvent {job_id: j.id})
   DETACH DELETE j, e',
  {batchSize: 100, parallel: false, retries: 3, params: {ids: $ids, before: $before}}
) YIELD failedOperations, errorMessages
RETURN failedOperations, errorMessages;

// name: prune_discarded
// Events of discarded jobs have no job node to go with.
MATCH (e:EmbeddingJobEvent {type: 'discarded'})
WHERE e.at < $before
DELETE e;
