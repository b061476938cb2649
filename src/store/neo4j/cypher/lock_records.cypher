// One that is not there is made, so that there is something to lock.
UNWIND $paths AS path
MERGE (r:EmbeddingJobRecord {path: path})
SET r.touched = true
RETURN r.path AS path, r.body AS body
