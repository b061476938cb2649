-- Waiting jobs that keep being released, most released first (RATE-6). Reads 100,000 waiting jobs.
select count(*)::int as jobs, (array_agg(job.id order by job.releases desc))[1:5] as ids, max(job.releases)::int as most
  from (select waiting."id"::text as id, waiting."releases" as releases, waiting."started_at" as started_at
          from "unstuck"."jobs" waiting where waiting."status" = /*waiting*/'waiting' limit 100000) job
 where "unstuck".is_released_often(job.releases, job.started_at, now())
