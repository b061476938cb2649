-- The same selection as in claim_jobs.
explain (format json)
select job."id" from "unstuck"."jobs" job
 where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type") = /*default_type*/'any'
   and job."priority" = 0 and (job."group_key" is not null)::int = 0
   and coalesce(job."run_at", job."created_at") <= now()
 order by coalesce(job."run_at", job."created_at"), job."id" limit 10
