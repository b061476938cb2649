// Waiting, and no claim will take it: has_budget of the policy, turned round.
MATCH (j:EmbeddingJob)
WHERE j.status = 'pending'
WITH j, coalesce(j.max_attempts, $maxAttempts) AS most
WHERE ($reapBudget = 'crashes' AND (coalesce(j.crashes, 0) >= $maxCrashes OR coalesce(j.timeouts, 0) >= $maxTimeouts))
  OR CASE
    WHEN $failureBudget = 'failures' THEN coalesce(j.failures, 0) >= most
    WHEN $attemptCountedAt = 'failure-and-reap' THEN coalesce(j.attempts, 0) > most
    WHEN $reapBudget = 'crashes' THEN false
    ELSE coalesce(j.attempts, 0) >= most
  END
RETURN properties(j) AS job
ORDER BY j.id
LIMIT $limit
