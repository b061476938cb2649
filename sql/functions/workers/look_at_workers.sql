-- Private: notes which workers of a table hold their presence lock, and since when the others do not (LEASE-10).
-- Returns how many are newly gone, for five seconds because a job of theirs may be locked, and how many sessions
-- watch. Writes only what changes, and judges only if something has: in a fleet without deaths, a look is three reads.
create or replace function "unstuck".look_at_workers(p_attachment text, out newly_gone int, out watchers int)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_epoch text; v_held int[];
  v_ids text[]; v_vanished_at timestamptz[]; v_absent_at timestamptz[]; v_is_present boolean[]; v_is_absent boolean[];
  v_is_due boolean[];
begin
  newly_gone := 0;
  if not exists (select from "unstuck".workers where attachment = p_attachment and presence_key is not null) then
    return;
  end if;
  v_epoch := "unstuck".presence_epoch();
  select seen.held, seen.watchers into v_held, watchers from "unstuck".seen_locks(p_attachment) seen;
  if not exists (select from "unstuck".workers
                  where attachment = p_attachment and presence_key is not null
                    and ((presence_key in (select held.key from unnest(v_held) held(key)))
                           is distinct from coalesce(presence_epoch = v_epoch, false)
                           and stopped_at is null or absent_at is not null)) then
    return;
  end if;
  with seen as materialized (
    select * from "unstuck".seen_workers(v_now, v_epoch, v_held)
  ), mass as (
    -- A proxy, the server or full slots: leases decide (C26).
    select since, vanished >= 3 and 2 * vanished > known or vanished = 2 and known = 2 as is_mass
      from (select due.since, count(distinct process) filter (where vanished_at >= due.since) as vanished,
                   count(distinct process) filter (where vanished_at >= due.since or is_present) as known
              from seen, (select min("unstuck".after_ms(vanished_at, -grace_ms)) as since from seen where is_due) due
             group by due.since) counted
  ), changed as (
    select seen.*, (seen.is_absent and is_mass and seen.vanished_at >= since) is not true as is_judged
      from seen, mass where seen.attachment = p_attachment and seen.is_changed
  )
  select array_agg(worker_id), array_agg(vanished_at), array_agg(absent_at), array_agg(is_present),
         array_agg(is_absent and is_judged), array_agg(is_due and is_judged)
    into v_ids, v_vanished_at, v_absent_at, v_is_present, v_is_absent, v_is_due
    from changed;
  if v_ids is not null then
    with locked as materialized (
      select changed.*
        from unnest(v_ids, v_vanished_at, v_absent_at, v_is_present, v_is_absent, v_is_due)
               changed(worker_id, vanished_at, absent_at, is_present, is_absent, is_due)
        join "unstuck".workers worker on worker.attachment = p_attachment and worker.worker_id = changed.worker_id
       -- Not if it has returned meanwhile.
       where worker.absent_at is not distinct from changed.absent_at
       order by worker.worker_id for no key update of worker skip locked
    ), written as (
      update "unstuck".workers worker
         set presence_epoch = case when locked.is_present or locked.is_absent then v_epoch end,
             absent_at = case when locked.is_absent then v_now end, vanished_at = locked.vanished_at
        from locked where worker.attachment = p_attachment and worker.worker_id = locked.worker_id
      returning locked.is_due
    )
    select count(*) filter (where is_due) into newly_gone from written;
  end if;
  newly_gone := newly_gone + (
    select count(*) from "unstuck".workers
     where attachment = p_attachment and presence_key is not null and absent_at < v_now
       and absent_at > v_now - interval '5 s' and presence_epoch = v_epoch
       and "unstuck".is_gone(vanished_at, absent_at, seen_at, presence_grace_ms));
end
$$;

-- Private: the locks of workers, and of those who watch.
create or replace function "unstuck".presence_locks()
returns table (key int, is_watch boolean, pid int) language sql stable set search_path = pg_catalog, pg_temp as $$
  select objid::bigint::bit(32)::int, classid <> "unstuck".lock_class('presence')::oid, pid
    from pg_locks
   where locktype = 'advisory' and objsubid = 2 and granted
     and database = (select oid from pg_database where datname = current_database())
     and classid = any (array_append("unstuck".watch_classes(), "unstuck".lock_class('presence'))::oid[])
$$;

-- Private: every worker that may be judged by presence, as of a look. is_absent: without its lock, which was held in
-- this run of the server; is_due: for its whole grace now; is_gone: an earlier look found that; is_changed: its row
-- says something else.
create or replace function "unstuck".seen_workers(p_now timestamptz, p_epoch text, p_held int[])
returns table (attachment text, worker_id text, process int, grace_ms bigint, vanished_at timestamptz,
               absent_at timestamptz, is_present boolean, is_absent boolean, is_due boolean, is_gone boolean,
               is_changed boolean)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return query
  select worker.attachment, worker.worker_id, worker.process, worker.grace_ms, worker.vanished_at, worker.absent_at,
         worker.is_present, worker.is_absent,
         worker.is_absent and not worker.is_gone
           and p_now >= "unstuck".after_ms(worker.vanished_at, worker.grace_ms), worker.is_gone,
         not worker.is_gone and (worker.is_absent or worker.absent_at is not null)
           or worker.is_present and worker.presence_epoch is distinct from p_epoch
    from (select worker.attachment, worker.worker_id, worker.presence_key >> 10 as process,
                 worker.presence_grace_ms as grace_ms, worker.absent_at, worker.presence_epoch,
                 held.is_so as is_present, absent.is_absent,
                 -- Nobody looked for twice the grace, or it has shown life: the absence starts again.
                 case when absent.is_absent
                       and (coalesce("unstuck".after_ms(worker.absent_at, 2 * worker.presence_grace_ms) < p_now, true)
                            or worker.seen_at >= worker.vanished_at)
                      then p_now else worker.vanished_at end as vanished_at,
                 absent.is_absent
                   and "unstuck".is_gone(worker.vanished_at, worker.absent_at, worker.seen_at, worker.presence_grace_ms)
                   as is_gone
            from "unstuck".workers worker,
                 lateral (select worker.presence_key = any (p_held) as is_so) held,
                 lateral (select not held.is_so and coalesce(worker.presence_epoch = p_epoch, false)
                            as is_absent) absent
           where worker.presence_key is not null and worker.stopped_at is null) worker;
end
$$;
