-- Every queue with unfinished jobs, a pause or a dependency. Reads unfinished rows only.
create or replace function "unstuck"."list_queues"()
returns table (queue text, waiting int, due int, running int, is_paused boolean, paused_at timestamptz,
               paused_for_ms float8, paused_by text, pause_reason text, dependency text, breaker_state text)
language sql stable as $$
  with waiting_jobs as (
    select coalesce(job."queue", job."type")::text as name, count(*)::int as count,
           count(*) filter (where coalesce(job."run_at", job."created_at") <= now())::int as due
      from "unstuck"."jobs" job where job."status" = /*waiting*/'waiting'
     group by coalesce(job."queue", job."type")
  ), running_jobs as (
    select coalesce(job."queue", job."type")::text as name, count(*)::int as count
      from "unstuck"."jobs" job where job."status" in /*running_words*/('running')
     group by coalesce(job."queue", job."type")
  ), pause as (
    select * from "unstuck".pauses
     where attachment = /*attachment*/'native' and coalesce(paused_until > now(), true)
  ), dependency as (
    select dependency.queue, breaker.name, "unstuck".breaker_state(breaker) as state
      from "unstuck".dependencies dependency join "unstuck".breakers breaker on breaker.name = dependency.name
     where dependency.attachment = /*attachment*/'native'
  )
  select known.name, coalesce(waiting_jobs.count, 0), coalesce(waiting_jobs.due, 0), coalesce(running_jobs.count, 0),
         pause.queue is not null, pause.paused_at, "unstuck".ms_between(now(), pause.paused_until),
         pause.paused_by, pause.reason, dependency.name, dependency.state
    from (select name::text from waiting_jobs union select name::text from running_jobs
          union select pause.queue from pause union select dependency.queue from dependency) known(name)
    left join waiting_jobs on waiting_jobs.name = known.name
    left join running_jobs on running_jobs.name = known.name
    left join pause on pause.queue = known.name
    left join dependency on dependency.queue = known.name
   order by known.name
$$;
