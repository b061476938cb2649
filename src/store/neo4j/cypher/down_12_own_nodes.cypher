// The jobs are the application's and stay; these are ours.
MATCH (n:EmbeddingJobEvent|EmbeddingJobBucket|EmbeddingJobRecord)
CALL { WITH n DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS
