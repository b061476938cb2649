-- One bounded step of retention: deletes up to p_limit jobs that ended before the retention period, the oldest first,
-- and the events of as many jobs that their completion deleted; deleted counts both. Waiting and running jobs are never
-- touched. Continue with p_after = next until that is null. While another session deletes jobs of this table, it
-- deletes nothing and returns the same place.
create or replace function "unstuck"."prune_jobs"(
  p_retention_days int default null, p_limit int default 1000, p_after timestamptz default null)
returns table (deleted int, next text) language plpgsql set enable_seqscan = off as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native');
  v_ended_before timestamptz;
begin
  perform "unstuck".require(coalesce(p_retention_days, 1) between 1 and 3650, 'retention_days', p_retention_days::text,
                            'a whole number from 1 to 3650');
  perform "unstuck".require(p_limit between 1 and 10000, 'limit', p_limit::text, 'a whole number from 1 to 10000');
  perform "unstuck".require_acting(/*attachment*/'native');
  if not pg_try_advisory_xact_lock("unstuck".lock_class('prune'), hashtext(/*attachment*/'native')) then
    return query select 0, coalesce("unstuck".iso_utc(p_after), '-infinity');
    return;
  end if;
  v_ended_before := now() - make_interval(days => coalesce(p_retention_days, v_policy.retention_days));
  if p_after is null then
    perform "unstuck".prune_reports(/*attachment*/'native', v_ended_before, p_limit);
    perform "unstuck".prune_history(/*attachment*/'native', v_ended_before, p_limit);
  end if;
  return query
  with locked as materialized (
    -- A row that changes meanwhile is checked again under its lock: a retry may have requeued it.
    select job."id" as id, coalesce(job."finished_at", job."updated_at", job."created_at") as ended_at
      from "unstuck"."jobs" job
     where job."status" in /*ended_words*/('succeeded', 'dead', 'cancelled')
       and coalesce(job."finished_at", job."updated_at", job."created_at") >= coalesce(p_after, '-infinity')
       and coalesce(job."finished_at", job."updated_at", job."created_at") < v_ended_before
     order by coalesce(job."finished_at", job."updated_at", job."created_at") limit p_limit
       for update of job skip locked
  ), gone as (
    -- The primary key of a partitioned table may have more columns, and an id then two rows.
    delete from "unstuck"."jobs" job using locked
     where job."id" = locked.id and job."status" in /*ended_words*/('succeeded', 'dead', 'cancelled')
    returning job."id" as id
  ), forgotten as (
    delete from "unstuck".events event using gone
     where event.attachment = /*attachment*/'native' and event.job_id = gone.id::text
  ), undispatched as (
    delete from "unstuck".dispatches dispatch using gone
     where dispatch.attachment = /*attachment*/'native' and dispatch.job_id = gone.id::text
  ), forgotten_discards as (
    delete from "unstuck".events event
     where event.id = any (array(
       select old.id from "unstuck".events old
        where old.attachment = /*attachment*/'native' and old.type = 'discarded' and old.at < v_ended_before
        order by old.at limit p_limit))
  ), completed as materialized (
    -- Deleted by their completion, which left their events.
    select old.job_id from "unstuck".events old
     where old.attachment = /*attachment*/'native' and old.type = 'complete'
       and old.data #> '{details,is_deleted}' is not null and old.at < v_ended_before
     order by old.at limit p_limit
  ), forgotten_completions as (
    delete from "unstuck".events event using completed
     where event.attachment = /*attachment*/'native' and event.job_id = completed.job_id
  )
  select ((select count(*) from gone) + (select count(*) from completed))::int,
         coalesce((select "unstuck".iso_utc(max(locked.ended_at)) from locked having count(*) = p_limit),
                  (select coalesce("unstuck".iso_utc(p_after), '-infinity') from completed having count(*) = p_limit));
end
$$;

-- Private: deletes audit entries before p_before, and sweep history except the newest 1000. Returns the count.
create or replace function "unstuck".prune_history(p_attachment text, p_before timestamptz, p_limit int)
returns int language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_count int;
begin
  with acts as (
    delete from "unstuck".audit_entries
     where id = any (array(
       select old.id from "unstuck".audit_entries old
        where coalesce(old.attachment, p_attachment) = p_attachment and old.at < p_before
        order by old.at limit p_limit for update skip locked))
    returning 1
  ), sweeps as (
    delete from "unstuck".sweep_history
     where attachment = p_attachment and id < (
       select newest.id from "unstuck".sweep_history newest
        where newest.attachment = p_attachment order by newest.id desc offset 999 limit 1)
    returning 1
  )
  select (select count(*) from acts) + (select count(*) from sweeps) into v_count;
  return v_count;
end
$$;

-- Private: deletes workers and deliveries last seen or written before p_before, and operations that ended a week ago:
-- few at a time, because each takes up to 100,000 rows with it. Returns the count.
create or replace function "unstuck".prune_reports(p_attachment text, p_before timestamptz, p_limit int)
returns int language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_count int;
begin
  with workers as (
    delete from "unstuck".workers
     where attachment = p_attachment and worker_id = any (array(
       select old.worker_id from "unstuck".workers old
        where old.attachment = p_attachment and old.seen_at < p_before
        order by old.seen_at limit p_limit for update skip locked))
    returning 1
  ), deliveries as (
    delete from "unstuck".deliveries
     where attachment = p_attachment and id = any (array(
       select old.id from "unstuck".deliveries old
        where old.attachment = p_attachment and old.created_at < p_before
        order by old.created_at limit p_limit for update skip locked))
    returning 1
  ), operations as (
    delete from "unstuck".operations
     where id = any (array(
       select old.id from "unstuck".operations old
        where old.attachment = p_attachment and old.ended_at < now() - interval '7 days'
        order by old.id limit least(p_limit, 20) for update skip locked))
    returning 1
  )
  select (select count(*) from workers) + (select count(*) from deliveries) + (select count(*) from operations)
    into v_count;
  return v_count;
end
$$;
