// Waiting nodes that the application made itself: a claim finds them by these.
MATCH (j:EmbeddingJob)
WHERE j.status = 'pending' AND j.due_at IS NULL
SET j.id = coalesce(j.id, randomUUID()),
    j.type = coalesce(j.type, 'embed'),
    j.queue = coalesce(j.queue, j.type, 'embed'),
    j.priority = coalesce(j.priority, 0),
    j.created_at = coalesce(j.created_at, datetime.statement()),
    j.due_at = coalesce(j.run_at, j.created_at, datetime.statement()),
    j.bucket = coalesce(j.bucket, toInteger(rand() * 8))
