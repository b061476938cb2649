// Of all unfinished jobs that a schedule made.
MATCH (j:EmbeddingJob)
WHERE j.status IN ['pending', 'processing'] AND j.dedupe_key STARTS WITH 'schedule:'
RETURN DISTINCT j.type AS type
