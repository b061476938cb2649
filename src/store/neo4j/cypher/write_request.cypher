// Its record is locked by then.
MATCH (r:EmbeddingJobRecord {path: $path})
SET r.kind = 'requests', r.body = $body, r.at = datetime.statement()
