UNWIND $rows AS row
MATCH (r:EmbeddingJobRecord {path: row.path})
SET r.touched = true
WITH r, row
WHERE r.body = row.before OR (r.body IS NULL AND row.before IS NULL)
DELETE r
RETURN count(*) AS deleted
