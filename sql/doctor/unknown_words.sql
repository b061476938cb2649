-- Values of the status column that the profile does not know: claims and sweeps ignore such rows. Reads the newest
-- 100,000 jobs.
select job.word::text as word, count(*)::int as jobs
  from (select newest."status" as word from "unstuck"."jobs" newest order by newest."id" desc limit 100000) job
 where job.word not in /*unfinished_words*/('waiting', 'running')
   and job.word not in /*ended_words*/('succeeded', 'dead', 'cancelled')
    or job.word is null
 group by 1 order by 2 desc limit 10
