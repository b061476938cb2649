// Facts for doctor. All of them read few nodes, however many there are.

// name: read_server
CALL dbms.components() YIELD name, versions
WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version, datetime.realtime().epochMillis AS now;

// name: list_other_words
// Status words between those that are known, by the order of the index.
UNWIND $gaps AS gap
CALL {
  WITH gap
  MATCH (j:EmbeddingJob)
  USING INDEX SEEK j:EmbeddingJob(status)
  WHERE j.status > gap.after AND j.status < gap.before
  RETURN j.status AS word LIMIT 10000
}
RETURN word, count(*) AS jobs
ORDER BY word;

// name: count_numeric_ids
MATCH (j:EmbeddingJob)
WHERE j.id > -1.0E300
WITH j LIMIT 10000
RETURN count(j) AS jobs;
