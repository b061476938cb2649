// Facts for doctor. All of them read few nodes, however many there are.

// name: read_server
CALL dbms.components() YIELD name, versions
WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version, datetime.realtime().epochMillis AS now;

// name: list_other_words
// Status words between those that are known, by the order of the index, and statuses that are no words.
CALL {
  UNWIND $gaps AS gap
  CALL {
    WITH gap
    MATCH (j:EmbeddingJob)
    USING INDEX SEEK j:EmbeddingJob(status)
    WHERE j.status > gap.after AND j.status < gap.before
    RETURN j.status AS word LIMIT 10000
  }
  RETURN word
UNION ALL
  UNWIND ['', true, false] AS other
  CALL {
    WITH other
    MATCH (j:EmbeddingJob)
    USING INDEX SEEK j:EmbeddingJob(status)
    WHERE j.status = other
    RETURN j.status AS word LIMIT 10000
  }
  RETURN word
UNION ALL
  MATCH (j:EmbeddingJob)
  USING INDEX SEEK j:EmbeddingJob(status)
  WHERE j.status > -1.0E300
  RETURN j.status AS word LIMIT 10000
}
RETURN toString(word) AS word, count(*) AS jobs
ORDER BY word;

// name: find_without_status
// No index has them. Adopted ones carry a label; of the others the first are read.
CALL {
  MATCH (j:EmbeddingJobWithoutStatus&EmbeddingJob)
  WHERE j.status IS NULL
  RETURN j LIMIT 10000
UNION
  MATCH (j:EmbeddingJob&!EmbeddingJobKnown)
  WITH j LIMIT 10000
  WHERE j.status IS NULL
  RETURN j
}
RETURN count(j) AS jobs, collect(coalesce(toString(j.id), elementId(j)))[..5] AS ids;

// name: count_numeric_ids
MATCH (j:EmbeddingJob)
WHERE j.id > -1.0E300
WITH j LIMIT 10000
RETURN count(j) AS jobs;
