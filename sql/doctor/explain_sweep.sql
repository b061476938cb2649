-- The same selection as in reap_jobs.
explain (format json)
select job."id" from "unstuck"."jobs" job
 where job."status" in /*running_words*/('running') and job."lease_expires_at" < now()
   and job."id" > /*lowest_id*/'00000000-0000-0000-0000-000000000000'
 order by job."id" limit 1000
