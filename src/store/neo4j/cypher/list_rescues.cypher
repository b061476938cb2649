// The jobs that were claimed again after a reap since then.
MATCH (e:EmbeddingJobEvent {type: 'processing'})
WHERE e.at > datetime.statement() - duration({milliseconds: $windowMs})
RETURN DISTINCT e.job_id AS jobId
