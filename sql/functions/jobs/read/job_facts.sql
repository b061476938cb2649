-- Private: has another transaction locked the row of this job (C13)? Names the session only if it is certain: the
-- transaction in xmax is in progress and its session has a lock on this table. A row locked by several transactions
-- has no such session. NULL without the privilege to lock.
create or replace function "unstuck"."job_lock"(p_id /*id*/uuid)
returns jsonb language plpgsql as $$
begin
  perform from "unstuck"."jobs" job where job."id" = p_id for no key update of job skip locked;
  if found then
    return jsonb_build_object('is_locked', false);
  end if;
  return jsonb_build_object(
    'is_locked', true,
    'locked_by', (
      select jsonb_build_object('pid', holder.pid, 'application', nullif(activity.application_name, ''),
                                'state', activity.state,
                                'open_ms', "unstuck".ms_between(activity.xact_start, clock_timestamp()))
        from "unstuck"."jobs" job
        join pg_locks holder on holder.locktype = 'transactionid' and holder.granted and holder.transactionid = job.xmax
        left join pg_stat_activity activity on activity.pid = holder.pid
       where job."id" = p_id
         and exists (select from pg_locks lock where lock.locktype = 'relation' and lock.granted
                        and lock.pid = holder.pid and lock.relation = job.tableoid)
       limit 1));
exception when insufficient_privilege or read_only_sql_transaction then
  return jsonb_build_object('is_locked', null);
end
$$;

-- Private: the number of due jobs before a waiting one, up to 1000: of its group, or of those in its queue without one.
-- In a group in order these are the waiting jobs with a smaller id, due or not.
create or replace function "unstuck"."jobs_ahead"(p_id /*id*/uuid)
returns int language plpgsql stable as $$
declare
  v_queue text;
  v_priority int;
  v_due_at timestamptz;
  v_group text;
begin
  select coalesce(job."queue", job."type"), job."priority", coalesce(job."run_at", job."created_at"), job."group_key"
    into v_queue, v_priority, v_due_at, v_group
    from "unstuck"."jobs" job where job."id" = p_id;
  if v_group is not null and exists (
    select from "unstuck".queue_limits known
     where known.attachment = /*attachment*/'native' and known.queue = v_queue and known.group_order is not null) then
    return count(*)
      from (select from "unstuck"."jobs" job
             where job."status" in /*unfinished_words*/('waiting', 'running')
               and job."status" = (select /*waiting*/'waiting') and coalesce(job."queue", job."type")::text = v_queue
               and job."group_key" is not null and job."group_key"::text = v_group and job."id" < p_id
             limit 1000) ahead;
  elsif v_group is not null then
    return count(*)
      from (select from "unstuck"."jobs" job
             where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = v_queue
               and job."group_key" is not null and job."group_key"::text = v_group
               and (job."priority", coalesce(job."run_at", job."created_at"), job."id") < (v_priority, v_due_at, p_id)
               and coalesce(job."run_at", job."created_at") <= now()
             limit 1000) ahead;
  end if;
  return count(*)
    from (select from "unstuck"."jobs" job
           where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = v_queue
             and (job."group_key" is not null)::int = 0
             and (job."priority", coalesce(job."run_at", job."created_at"), job."id") < (v_priority, v_due_at, p_id)
             and coalesce(job."run_at", job."created_at") <= now()
           limit 1000) ahead;
end
$$;

-- Private: the pause and the breaker that keep jobs of a queue from being claimed.
create or replace function "unstuck".queue_facts(p_attachment text, p_queue text)
returns jsonb language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_breaker text := (select dependency.name from "unstuck".dependencies dependency
                      where dependency.attachment = p_attachment and dependency.queue = p_queue);
  v_pause jsonb := (
      select jsonb_build_object('by', pause.paused_by, 'reason', pause.reason,
                                'since_ms', "unstuck".ms_between(pause.paused_at, now()),
                                'left_ms', "unstuck".ms_between(now(), pause.paused_until))
        from "unstuck".pauses pause
       where pause.attachment = p_attachment and pause.queue = p_queue
         and coalesce(pause.paused_until > now(), true));
begin
  return jsonb_build_object('pause', v_pause, 'breaker', (
      select jsonb_build_object('name', breaker.name, 'state', breaker.state, 'by', breaker.changed_by,
                                'reason', breaker.reason, 'since_ms', "unstuck".ms_between(breaker.since, now()),
                                'next_probe_in_ms', breaker.next_probe_in_ms, 'held_for_ms', breaker.held_for_ms,
                                'probing', breaker.probing, 'probe_slots', breaker.settings -> 'probe_slots',
                                'unheard', breaker.unheard, 'close_after', breaker.settings -> 'close_after')
        from "unstuck".list_breakers(v_breaker) breaker where v_breaker is not null));
end
$$;

-- Private: the person who asked to cancel a job. Calls of workers carry an actor too, the name of their token.
create or replace function "unstuck".cancel_facts(p_attachment text, p_job_id text)
returns jsonb language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return jsonb_build_object('cancel', (
    select jsonb_build_object('by', event.data #>> '{details,actor}', 'reason', event.data #>> '{details,reason}',
                              'ago_ms', "unstuck".ms_between(event.at, now()))
      from "unstuck".events event
     where event.attachment = p_attachment and event.job_id = p_job_id
       and event.type in ('cancelled', 'cancel-requested') and event.data #>> '{details,actor}' is not null
       and event.data #> '{details,worker_id}' is null
     order by event.id desc limit 1));
end
$$;

-- Private: leases by worker, in the whole table.
create or replace function "unstuck"."leases_by_worker"()
returns jsonb language sql stable as $$
  select coalesce(jsonb_object_agg(held.worker_id, held.leases), '{}')
    from (select job."worker_id"::text as worker_id, count(*) as leases from "unstuck"."jobs" job
           where job."status" in /*running_words*/('running') and job."worker_id" is not null
           group by 1) held
$$;

-- Private: number and load of the live workers that claim a type of job from a queue, by their leases; elsewhere are
-- those that handle the type and claim from other queues only. NULL if no worker has ever reported. A worker that
-- hears no hints does not report its queues: it may claim from this one.
create or replace function "unstuck".worker_facts(p_attachment text, p_type text, p_queue text, p_leases jsonb)
returns jsonb language sql stable set search_path = pg_catalog, pg_temp as $$
  select jsonb_build_object('workers', case when count(*) > 0 then jsonb_build_object(
           'live', count(*) filter (where is_live),
           'handling', count(*) filter (where is_live and claims),
           'slots', coalesce(sum(concurrency) filter (where is_live and claims), 0),
           'busy', coalesce(sum(least(leases, concurrency)) filter (where is_live and claims), 0),
           'elsewhere', count(*) filter (where is_live and handles and not claims),
           'last_seen_ms', "unstuck".ms_between(max(seen_at) filter (where claims), now())) end)
    from (select concurrency, coalesce((p_leases ->> worker_id)::int, 0) as leases, seen_at,
                 p_type = any (types) as handles,
                 p_type = any (types) and coalesce(p_queue = any (hinted_queues), true) as claims,
                 stopped_at is null and draining_at is null and drain_requested_at is null
                   and seen_at >= "unstuck".after_ms(now(), -3 * report_ms)
                   and not "unstuck".is_gone(vanished_at, absent_at, seen_at, presence_grace_ms) as is_live
            from "unstuck".workers where attachment = p_attachment) worker
$$;

-- Private: the end of the lease of a running job, and for how long no reaper takes it because of an outage (C9). NULL
-- if one may.
create or replace function "unstuck"."held_lease"(
  p_policy "unstuck".policies, p_id /*id*/uuid, out ended_at timestamptz, out for_ms float8)
language plpgsql stable as $$
declare
  v_running record;
  v_last "unstuck".sweeps;
begin
  select * into v_running from "unstuck"."running_jobs"(p_policy) running where running.id = p_id;
  select * into v_last from "unstuck".sweeps where attachment = /*attachment*/'native';
  ended_at := v_running.ended_at;
  if ended_at < now() and "unstuck".is_held(
      v_last.outage_from, v_last.outage_to, ended_at, v_running.heartbeat_at, v_running.lease_ms) then
    for_ms := "unstuck".ms_between(now(), "unstuck".after_ms(v_last.outage_to, v_running.lease_ms));
  end if;
end
$$;

-- Private: how long a worker has been without its lock, and for how long it may still return: NULL once it is gone.
-- Only if presence may take this job back, which was started and last renewed before that.
create or replace function "unstuck".absence_facts(
  p_policy "unstuck".policies, p_attachment text, p_worker_id text, p_sign_at timestamptz)
returns jsonb language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  -- A standby knows neither the locks nor the run of the primary.
  if p_policy.presence = 'off' or pg_is_in_recovery() then
    return '{}';
  end if;
  return (select jsonb_build_object('absence', jsonb_build_object(
                   'since_ms', "unstuck".ms_between(seen.vanished_at, now()),
                   'grace_left_ms', case when not seen.is_gone then greatest(0, "unstuck".ms_between(
                     now(), "unstuck".after_ms(seen.vanished_at, seen.grace_ms))) end))
            from "unstuck".seen_locks(p_attachment) locks,
                 "unstuck".seen_workers(now(), "unstuck".presence_epoch(), locks.held) seen
           where seen.attachment = p_attachment and seen.worker_id = p_worker_id and seen.is_absent
             and coalesce(p_sign_at < seen.vanished_at, false)
           limit 1);
end
$$;
