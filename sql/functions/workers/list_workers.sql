-- Every worker that has reported, last seen first. The state follows from its last report and its running jobs: live
-- for 3 report intervals, late for 6, then silent while jobs run under its name, else gone. A live worker with a job
-- past its deadline is a zombie. A worker that presence found gone is gone at once. Of its leases, as many as it has
-- slots are running; the others are claimed ahead.
create or replace function "unstuck"."list_workers"()
returns table (worker_id text, state text, host text, pid int, version text, types text[], concurrency int, running int,
               leases int, loop_lag_ms float8, seen_ms float8, started_at timestamptz, seen_at timestamptz,
               draining_at timestamptz, stopped_at timestamptz, exit_code int, drain_requested_at timestamptz,
               drain_requested_by text, drain_reason text, presence text, app_version text,
               report_times timestamptz[])
language plpgsql stable as $$
declare
  v_ids text[];
  v_presences text[];
begin
  select array_agg(known.worker_id), array_agg(known.presence) into v_ids, v_presences
    from "unstuck".worker_presence(/*attachment*/'native') known;
  return query
  with held as (
    select job."worker_id"::text as worker_id, count(*)::int as leases,
           bool_or(coalesce(job."deadline_at" <= now(), false)) as is_past_deadline
      from "unstuck"."jobs" job
     where job."status" in /*running_words*/('running') and job."worker_id" is not null
     group by 1
  )
  select worker.worker_id,
         case when worker.stopped_at is not null then 'stopped'
              when present.presence = 'gone' then 'gone'
              when worker.seen_at < "unstuck".after_ms(now(), -6 * worker.report_ms)
                then case when held.leases > 0 then 'silent' else 'gone' end
              when worker.seen_at < "unstuck".after_ms(now(), -3 * worker.report_ms) then 'late'
              when held.is_past_deadline then 'zombie'
              when num_nonnulls(worker.draining_at, worker.drain_requested_at) > 0 then 'draining'
              else 'live' end,
         worker.host, worker.pid, worker.version, worker.types, worker.concurrency,
         least(coalesce(held.leases, 0), worker.concurrency),
         coalesce(held.leases, 0), worker.loop_lag_ms, "unstuck".ms_between(worker.seen_at, now()), worker.started_at,
         worker.seen_at, worker.draining_at, worker.stopped_at, worker.exit_code, worker.drain_requested_at,
         worker.drain_requested_by, worker.drain_reason, present.presence, worker.app_version, worker.report_times
    from "unstuck".workers worker
    join unnest(v_ids, v_presences) present(worker_id, presence) on present.worker_id = worker.worker_id
    left join held on held.worker_id = worker.worker_id
   where worker.attachment = /*attachment*/'native'
   order by worker.seen_at desc, worker.worker_id;
end
$$;
