// A body that is not the one that was read counts as not written: the caller begins anew.
UNWIND $rows AS row
MERGE (r:EmbeddingJobRecord {path: row.path})
SET r.touched = true
WITH r, row
WHERE r.body = row.before OR (r.body IS NULL AND row.before IS NULL)
SET r.kind = row.kind, r.body = row.body
RETURN count(*) AS written
