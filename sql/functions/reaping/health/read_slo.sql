-- Rescue times within the window. A rescue lasts from the last sign of life of the lost worker to the next claim,
-- without the backoff between them. It is in time if it fits into the job's own lease, a sweep interval and a poll.
-- by_cause counts the rescues by what ended the attempt. Reads the newest 10,000 rescues.
create or replace function "unstuck"."read_slo"(
  p_window_ms bigint default 86400000, p_poll_ms bigint default 2000, p_policy jsonb default null)
returns table (rescued int, in_time int, p50_ms float8, p95_ms float8, worst_ms float8, promise_ms float8,
               oldest_stuck_ms float8, stale_leases int, by_cause jsonb)
language plpgsql stable as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_oldest_stuck_ms float8;
  v_stale_leases int;
begin
  perform "unstuck".require(p_window_ms between 1 and 31536000000, 'window_ms', p_window_ms::text,
                            'milliseconds from 1 to one year');
  perform "unstuck".require(p_poll_ms between 0 and 31536000000, 'poll_ms', p_poll_ms::text,
                            'milliseconds from 0 to one year');
  select "unstuck".ms_between(min(running.ended_at), now()), count(*) into v_oldest_stuck_ms, v_stale_leases
    from "unstuck"."running_jobs"(v_policy) running where running.ended_at < now();
  return query
  with rescue as materialized (
    select (event.data #>> '{details,rescued_after_ms}')::float8 as after_ms, reap.at, reap.seen_at, reap.ended_at,
           coalesce(reap.run_at, reap.at) as run_at, reap.cause
      from "unstuck".events event,
           lateral (select (earlier.data ->> 'at')::timestamptz as at,
                           (earlier.data #>> '{details,last_heartbeat_at}')::timestamptz as seen_at,
                           (earlier.data #>> '{details,lease_expires_at}')::timestamptz as ended_at,
                           (earlier.data #>> '{details,next_run_at}')::timestamptz as run_at,
                           "unstuck".reap_cause(earlier.data #>> '{details,reason}') as cause
                      from "unstuck".events earlier
                     where earlier.attachment = event.attachment and earlier.job_id = event.job_id
                       and earlier.id < event.id and earlier.type = 'reaper:requeued'
                     order by earlier.id desc limit 1) reap
     where event.attachment = /*attachment*/'native' and event.type = 'processing'
       and event.data #>> '{details,rescued_after_ms}' is not null
       and event.at > "unstuck".after_ms(now(), -p_window_ms)
     order by event.at desc limit 10000
  ), timed as (
    select greatest(0, coalesce("unstuck".ms_between(seen_at, at), v_policy.default_lease_ms) + after_ms
                       - "unstuck".ms_between(at, run_at)) as lasted_ms,
           coalesce("unstuck".ms_between(seen_at, ended_at), v_policy.default_lease_ms) as lease_ms, cause
      from rescue
  )
  select count(*)::int,
         (count(*) filter (where lasted_ms <= lease_ms + (v_policy.sweep_interval_ms + p_poll_ms)::float8))::int,
         percentile_disc(0.5) within group (order by lasted_ms),
         percentile_disc(0.95) within group (order by lasted_ms),
         max(lasted_ms), (v_policy.default_lease_ms + v_policy.sweep_interval_ms + p_poll_ms)::float8,
         v_oldest_stuck_ms, v_stale_leases,
         jsonb_build_object('crash', count(*) filter (where cause = 'crash'),
                            'timeout', count(*) filter (where cause = 'timeout'),
                            'worker-gone', count(*) filter (where cause = 'worker-gone'))
    from timed;
end
$$;
