MATCH (j:EmbeddingJob)
WHERE j.touched IS NOT NULL
CALL { WITH j REMOVE j.touched, j.bucket, j.due_at, j.active_key, j.ended_at, j.cause_id } IN TRANSACTIONS OF 1000 ROWS
