MATCH (j:EmbeddingJob)
WHERE j.status = 'pending'
WITH j.queue AS queue, j.due_at AS due, datetime.statement() AS now, coalesce(j.releases, 0) AS releases,
     j.started_at AS started
RETURN queue, count(*) AS waiting, sum(CASE WHEN due <= now THEN 1 ELSE 0 END) AS due, min(due) AS oldest,
       sum(CASE WHEN releases >= 20 OR (releases > 0 AND started <= now - duration({hours: 24})) THEN 1 ELSE 0 END)
         AS releasedOften
