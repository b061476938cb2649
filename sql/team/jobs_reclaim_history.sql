-- Every reclaim of an existing job, newest first, with the current state of the job. The join also restricts it to
-- jobs that the reader may see: events have no row security of their own.
create or replace view "team"."jobs_reclaim_history" as
select event.at as reclaimed_at, event.job_id, job."type" as "type",
       case event.type when 'reaper:requeued' then 'requeued' when 'reaper:cancelled' then 'cancelled'
                       else 'dead' end as action,
       event.data -> 'details' ->> 'locked_by' as previous_worker,
       (event.data -> 'details' ->> 'attempt')::int as attempts_after,
       event.data -> 'details' ->> 'last_heartbeat_at' as last_heartbeat_at,
       job."status" as status_now, job."attempt" as attempts_now, job."updated_at" as "updated_at"
       /*+last_error , job."last_error" */
  from "unstuck".events event join "unstuck"."jobs" job on job."id"::text = event.job_id
 where event.attachment = /*attachment*/'native'
   and event.type in ('reaper:requeued', 'reaper:failed(timeout)', 'reaper:cancelled')
 order by event.id desc;
