// Events and the clock of the feed.

// name: create_events
UNWIND $rows AS row
CREATE (e:EmbeddingJobEvent)
SET e = row;

// name: list_events_of
MATCH (e:EmbeddingJobEvent)
WHERE e.job_id IN $jobIds
RETURN properties(e) AS event, 'EmbeddingJob' AS table
ORDER BY e.id;

// name: list_events_between
MATCH (e:EmbeddingJobEvent)
WHERE e.id > $after AND e.id < $before
RETURN properties(e) AS event, 'EmbeddingJob' AS table
ORDER BY e.id
LIMIT $limit;

// name: read_last_event
MATCH (e:EmbeddingJobEvent)
WHERE e.id < $before
RETURN e.id AS id
ORDER BY e.id DESC
SKIP $skip
LIMIT 1;

// name: read_open_since
// Start of the oldest transaction that may still write. The clock is read before the transactions.
SHOW TRANSACTIONS YIELD startTime
RETURN min(datetime(startTime)).epochMillis AS since, datetime.statement().epochMillis AS now;
