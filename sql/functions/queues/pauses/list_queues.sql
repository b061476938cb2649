-- Every queue with unfinished jobs, a pause, a limit or a dependency, by name; p_queues: only these. Reads unfinished
-- rows only, and about p_count_limit of them: at_least names the counts that may be larger. Finds 1,000 queues with
-- waiting jobs: is_complete says, on every row, whether those are all.
create or replace function "unstuck"."list_queues"(p_queues text[] default null, p_count_limit int default 100000)
returns table (queue text, waiting int, due int, running int, released_often int, is_paused boolean,
               paused_at timestamptz, paused_for_ms float8, paused_by text, pause_reason text, dependency text,
               breaker_state text, concurrency int, group_concurrency int, group_order text, at_least text[],
               is_complete boolean, oldest_due_ms float8)
language plpgsql stable set enable_seqscan = off as $$
declare
  v_queues text[] := coalesce(p_queues, array(select "unstuck"."waiting_queues"(1001)));
  v_is_complete boolean := p_queues is not null or cardinality(v_queues) <= 1000;
  v_names text[]; v_waiting int[]; v_due int[]; v_released_often int[]; v_is_cut boolean[]; v_oldest timestamptz[];
begin
  perform "unstuck".require_count_limit(p_count_limit);
  select array_agg(counted.queue), array_agg(counted.waiting), array_agg(counted.due),
         array_agg(counted.released_often), array_agg(counted.is_cut), array_agg(counted.oldest_due_at)
    into v_names, v_waiting, v_due, v_released_often, v_is_cut, v_oldest
    from "unstuck"."waiting_counts"(
      case when p_queues is null then v_queues[:1000] else v_queues end, p_count_limit) counted
   where counted.waiting > 0;
  return query
  with waiting_jobs as (
    select * from unnest(v_names, v_waiting, v_due, v_released_often, v_is_cut, v_oldest)
                    counted(queue, waiting, due, released_often, is_cut, oldest_due_at)
  ), seen as materialized (
    select coalesce(job."queue", job."type")::text as name from "unstuck"."jobs" job
     where job."status" in /*running_words*/('running') limit p_count_limit
  ), running_jobs as (
    select seen.name, count(*)::int as count from seen group by seen.name
  ), pause as (
    select * from "unstuck".pauses
     where attachment = /*attachment*/'native' and coalesce(paused_until > now(), true)
  ), dependency as (
    select dependency.queue, breaker.name, "unstuck".breaker_state(
             breaker.held_at, breaker.held_until, breaker.is_open, breaker.mode, breaker.cooldown_until) as state
      from "unstuck".dependencies dependency join "unstuck".breakers breaker on breaker.name = dependency.name
     where dependency.attachment = /*attachment*/'native'
  ), limits as (
    select * from "unstuck".queue_limits where attachment = /*attachment*/'native'
  )
  select known.name, coalesce(waiting_jobs.waiting, 0), coalesce(waiting_jobs.due, 0), coalesce(running_jobs.count, 0),
         coalesce(waiting_jobs.released_often, 0),
         pause.queue is not null, pause.paused_at, "unstuck".ms_between(now(), pause.paused_until),
         pause.paused_by, pause.reason, dependency.name, dependency.state, limits.concurrency, limits.group_concurrency,
         limits.group_order,
         array_cat(case when waiting_jobs.is_cut then array['waiting', 'due', 'released_often', 'oldest_due_ms']
                        else '{}' end,
                   case when (select count(*) from seen) = p_count_limit then array['running'] else '{}' end),
         v_is_complete, "unstuck".ms_between(waiting_jobs.oldest_due_at, now())
    from (select waiting_jobs.queue from waiting_jobs union select running_jobs.name from running_jobs
          union select pause.queue from pause union select dependency.queue from dependency
          union select limits.queue from limits) known(name)
    left join waiting_jobs on waiting_jobs.queue = known.name
    left join running_jobs on running_jobs.name = known.name
    left join pause on pause.queue = known.name
    left join dependency on dependency.queue = known.name
    left join limits on limits.queue = known.name
   where p_queues is null or known.name = any (p_queues)
   order by known.name;
end
$$;
