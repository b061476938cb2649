MATCH (r:EmbeddingJobRecord)
WHERE r.kind = 'requests' AND r.at < datetime.statement() - duration({days: 1})
WITH r LIMIT 1000
DELETE r
