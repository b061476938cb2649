// Records: breakers, pauses, schedules, workers, tokens, requests and settings.

// name: lock_records
// Creates a missing record, to have a node to lock.
UNWIND $paths AS path
MERGE (r:EmbeddingJobRecord {path: path})
SET r.touched = true
RETURN r.path AS path, r.body AS body;

// name: read_records
// The time of this statement is later than every lock taken before it.
OPTIONAL MATCH (r:EmbeddingJobRecord)
WHERE r.kind IN $kinds AND r.body IS NOT NULL
RETURN datetime.statement().epochMillis AS now, [record IN collect(r) | {path: record.path, body: record.body}] AS records;

// name: read_records_at
MATCH (r:EmbeddingJobRecord)
WHERE r.path IN $paths AND r.body IS NOT NULL
RETURN r.path AS path, r.body AS body;

// name: write_records
// A record whose body changed since it was read is not written; the caller starts over.
UNWIND $rows AS row
MERGE (r:EmbeddingJobRecord {path: row.path})
SET r.touched = true
WITH r, row
WHERE r.body = row.before OR (r.body IS NULL AND row.before IS NULL)
SET r.kind = row.kind, r.body = row.body
RETURN count(*) AS written;

// name: delete_records
UNWIND $rows AS row
MATCH (r:EmbeddingJobRecord {path: row.path})
SET r.touched = true
WITH r, row
WHERE r.body = row.before OR (r.body IS NULL AND row.before IS NULL)
DELETE r
RETURN count(*) AS deleted;

// name: write_request
// The caller holds the lock of this record.
MATCH (r:EmbeddingJobRecord {path: $path})
SET r.kind = 'requests', r.body = $body, r.at = datetime.statement();

// name: forget_requests
MATCH (r:EmbeddingJobRecord)
WHERE r.kind = 'requests' AND r.at < datetime.statement() - duration({days: 1})
WITH r LIMIT 1000
DELETE r;
