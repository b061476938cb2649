-- Waiting jobs that keep being released, most released first (RATE-6).
select count(*)::int as jobs, (array_agg(job."id"::text order by job."releases" desc))[1:5] as ids,
       max(job."releases")::int as most
  from "unstuck"."jobs" job
 where job."status" = /*waiting*/'waiting'
   and "unstuck".is_released_often(job."releases", job."started_at", now())
