// Constraints, indexes and their removal. Statements run in the order of their names.

// name: check_server
CALL dbms.components() YIELD name, versions
WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version;

// name: check_apoc
SHOW PROCEDURES YIELD name
WHERE name = 'apoc.periodic.iterate'
RETURN count(*) AS found;

// name: list_schema
SHOW INDEXES YIELD name, state, labelsOrTypes, properties, owningConstraint
RETURN name, state, labelsOrTypes, properties, owningConstraint;

// name: count_unknown
// All from the count store, so it costs the same whatever the number of nodes.
CALL { MATCH (j:EmbeddingJob) RETURN count(j) AS jobs }
CALL { MATCH (k:EmbeddingJobKnown) RETURN count(k) AS known }
RETURN jobs - known AS unknown;

// name: adopt_jobs
// Nodes that the application created itself get the properties that indexes need, in batches with their own transactions. The
// first SET of a batch locks its nodes. A node with a number as id is not claimed: doctor reports it.
MATCH (j:EmbeddingJob&!EmbeddingJobKnown)
WITH j LIMIT $limit
CALL {
  WITH j
  SET j.touched = true
  WITH j
  SET j:EmbeddingJobKnown,
      j.id = coalesce(j.id, randomUUID()),
      j.type = coalesce(j.type, 'embed'),
      j.queue = coalesce(j.queue, j.type, 'embed'),
      j.priority = coalesce(j.priority, 0),
      j.created_at = coalesce(j.created_at, datetime.statement()),
      j.due_at = CASE
        WHEN j.id >= 0 OR j.id < 0 THEN null
        ELSE coalesce(j.due_at, asTime(j.run_at), asTime(j.created_at), datetime.statement())
      END,
      j.bucket = coalesce(j.bucket, toInteger(rand() * 8))
  FOREACH (_ IN CASE WHEN j.status IS NULL THEN [1] ELSE [] END | SET j:EmbeddingJobWithoutStatus)
  WITH j
  WHERE j.status IN ['completed', 'failed'] AND j.ended_at IS NULL
  SET j.ended_at = coalesce(asTime(j.finished_at), asTime(j.updated_at), asTime(j.created_at), datetime.statement())
} IN TRANSACTIONS OF 1000 ROWS
RETURN count(*) AS adopted;

// name: forget_strays
// Nodes whose label the application removed.
MATCH (j:EmbeddingJobKnown&!EmbeddingJob)
WITH j LIMIT $limit
CALL { WITH j REMOVE j:EmbeddingJobKnown } IN TRANSACTIONS OF 1000 ROWS
RETURN count(*) AS forgotten;

// name: forget_stated
// Nodes that the application has given a status since.
MATCH (j:EmbeddingJobWithoutStatus)
WHERE j.status IS NOT NULL
WITH j LIMIT $limit
CALL { WITH j REMOVE j:EmbeddingJobWithoutStatus } IN TRANSACTIONS OF 1000 ROWS
RETURN count(*) AS forgotten;

// name: up_01_job_id
CREATE CONSTRAINT EmbeddingJob_id IF NOT EXISTS FOR (j:EmbeddingJob) REQUIRE j.id IS UNIQUE;

// name: up_02_active_key
CREATE CONSTRAINT EmbeddingJob_active_key IF NOT EXISTS FOR (j:EmbeddingJob) REQUIRE j.active_key IS UNIQUE;

// name: up_03_due
CREATE INDEX EmbeddingJob_due IF NOT EXISTS
FOR (j:EmbeddingJob) ON (j.queue, j.status, j.priority, j.due_at, j.id);

// name: up_04_status
CREATE INDEX EmbeddingJob_status IF NOT EXISTS FOR (j:EmbeddingJob) ON (j.status);

// name: up_05_ended
CREATE INDEX EmbeddingJob_ended IF NOT EXISTS FOR (j:EmbeddingJob) ON (j.ended_at);

// name: up_06_event_id
CREATE CONSTRAINT EmbeddingJobEvent_id IF NOT EXISTS FOR (e:EmbeddingJobEvent) REQUIRE e.id IS UNIQUE;

// name: up_07_event_job
CREATE INDEX EmbeddingJobEvent_job IF NOT EXISTS FOR (e:EmbeddingJobEvent) ON (e.job_id);

// name: up_08_event_type
CREATE INDEX EmbeddingJobEvent_type IF NOT EXISTS FOR (e:EmbeddingJobEvent) ON (e.type, e.at);

// name: up_09_bucket
CREATE CONSTRAINT EmbeddingJobBucket_path IF NOT EXISTS FOR (b:EmbeddingJobBucket) REQUIRE b.path IS UNIQUE;

// name: up_10_record
CREATE CONSTRAINT EmbeddingJobRecord_path IF NOT EXISTS FOR (r:EmbeddingJobRecord) REQUIRE r.path IS UNIQUE;

// name: up_11_record_kind
CREATE INDEX EmbeddingJobRecord_kind IF NOT EXISTS FOR (r:EmbeddingJobRecord) ON (r.kind);

// name: up_12_dedupe_key
CREATE INDEX EmbeddingJob_dedupe_key IF NOT EXISTS FOR (j:EmbeddingJob) ON (j.dedupe_key);

// name: up_13_former_claim
// The index of a former version, which lacks the id.
DROP INDEX EmbeddingJob_claim IF EXISTS;

// name: up_99_await
CALL db.awaitIndexes(3600);

// name: down_01_job_id
DROP CONSTRAINT EmbeddingJob_id IF EXISTS;

// name: down_02_active_key
DROP CONSTRAINT EmbeddingJob_active_key IF EXISTS;

// name: down_03_due
DROP INDEX EmbeddingJob_due IF EXISTS;

// name: down_04_status
DROP INDEX EmbeddingJob_status IF EXISTS;

// name: down_05_ended
DROP INDEX EmbeddingJob_ended IF EXISTS;

// name: down_06_event_id
DROP CONSTRAINT EmbeddingJobEvent_id IF EXISTS;

// name: down_07_event_job
DROP INDEX EmbeddingJobEvent_job IF EXISTS;

// name: down_08_event_type
DROP INDEX EmbeddingJobEvent_type IF EXISTS;

// name: down_09_bucket
DROP CONSTRAINT EmbeddingJobBucket_path IF EXISTS;

// name: down_10_record
DROP CONSTRAINT EmbeddingJobRecord_path IF EXISTS;

// name: down_11_record_kind
DROP INDEX EmbeddingJobRecord_kind IF EXISTS;

// name: down_12_dedupe_key
DROP INDEX EmbeddingJob_dedupe_key IF EXISTS;

// name: down_13_former_claim
DROP INDEX EmbeddingJob_claim IF EXISTS;

// name: down_14_own_nodes
// Job nodes belong to the application and stay.
MATCH (n:EmbeddingJobEvent|EmbeddingJobBucket|EmbeddingJobRecord)
CALL { WITH n DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS;

// name: down_15_own_properties
MATCH (j:EmbeddingJob)
WHERE j.touched IS NOT NULL OR j:EmbeddingJobKnown
CALL {
  WITH j
  REMOVE j:EmbeddingJobKnown:EmbeddingJobWithoutStatus, j.touched, j.bucket, j.due_at, j.active_key, j.ended_at, j.cause_id
} IN TRANSACTIONS OF 1000 ROWS;
