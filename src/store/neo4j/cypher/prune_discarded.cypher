// What is told of jobs that somebody discarded goes with time too.
MATCH (e:EmbeddingJobEvent {type: 'discarded'})
WHERE e.at < $before
DELETE e
