// The time is that of this statement: what was locked before it was locked by then.
OPTIONAL MATCH (r:EmbeddingJobRecord)
WHERE r.kind IN $kinds AND r.body IS NOT NULL
RETURN datetime.statement().epochMillis AS now, [record IN collect(r) | {path: record.path, body: record.body}] AS records
