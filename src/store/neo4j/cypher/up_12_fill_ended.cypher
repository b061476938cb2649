// Ended nodes from before the install have to be found by retention too.
MATCH (j:EmbeddingJob)
WHERE j.status IN ['completed', 'failed'] AND j.ended_at IS NULL
CALL {
  WITH j
  SET j.ended_at = coalesce(j.finished_at, j.updated_at, j.created_at, datetime.statement())
} IN TRANSACTIONS OF 1000 ROWS
