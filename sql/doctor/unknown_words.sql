-- Values of the status column that the profile does not know: claims and sweeps ignore such rows.
select job."status"::text as word, count(*)::int as jobs
  from "unstuck"."jobs" job
 where job."status" not in /*unfinished_words*/('waiting', 'running')
   and job."status" not in /*ended_words*/('succeeded', 'dead', 'cancelled')
    or job."status" is null
 group by 1 order by 2 desc limit 10
