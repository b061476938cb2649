-- Private: gives the fields of new jobs (those at p_places; NULL for all) to the waiting jobs that have their dedupe
-- keys; counts and errors start again, with a new generation. A running job with the key gives it away, so that the
-- new job can be inserted: what it works on is older. Of several jobs with one key the last counts. "replaced" has the
-- id by position: NULL for those that a later one of the call replaced. Keys are locked until the transaction ends, so
-- that two such calls follow each other.
create or replace function "unstuck"."replace_jobs"(
  p_shared jsonb, p_payloads jsonb, p_jobs jsonb, p_now timestamptz, p_max_attempts int, p_places int[],
  out replaced jsonb, out queues text[], out delays_ms float8[])
language plpgsql set enable_seqscan = off as $$
declare
  v_types text[]; v_keys text[]; v_last int[]; v_earlier int[];
  v_ids /*id*/uuid[]; v_waiting /*id*/uuid[]; v_running /*id*/uuid[];
begin
  select array_agg(asked.type) filter (where is_last), array_agg(asked.dedupe_key) filter (where is_last),
         array_agg(asked.place) filter (where is_last), array_agg(asked.place) filter (where not is_last)
    into v_types, v_keys, v_last, v_earlier
    from (select job.type, job.dedupe_key, job.place,
                 job.place = max(job.place) over (partition by job.type, job.dedupe_key) as is_last
            from "unstuck".new_jobs(p_shared, p_payloads, p_jobs, p_now, null) job
           where job.dedupe_replace and job.dedupe_key is not null
             and (p_places is null or job.place in (select place from pg_catalog.unnest(p_places) place))) asked;
  if v_keys is null then
    return;
  end if;
  perform "unstuck".lock_keys(/*attachment*/'native', v_types, v_keys);
  v_ids := array(select job."id"
                   from unnest(v_types, v_keys) asked(type, key), lateral (
                     select held."id" from "unstuck"."jobs" held
                      where held."type"::text = asked.type and held."dedupe_key"::text = asked.key
                        and held."status" in /*unfinished_words*/('waiting', 'running') offset 0) job);
  -- In one order, waiting and running ones together, or this call and one that ends the same jobs would deadlock. A
  -- claim that holds a row decides first: the job waits no longer then.
  with locked as materialized (
    select job."id" as id, job."type"::text as type, job."dedupe_key"::text as key, job."created_at" as created_at,
           job."status" = /*waiting*/'waiting' as is_waiting
      from "unstuck"."jobs" job
     where job."id" = any (v_ids) and job."status" in /*unfinished_words*/('waiting', 'running')
     order by job."id" for no key update of job
  )
  select array(select distinct on (locked.type, locked.key) locked.id from locked where locked.is_waiting
                order by locked.type, locked.key, locked.created_at, locked.id),
         array(select locked.id from locked where not locked.is_waiting)
    into v_waiting, v_running;
  with held as materialized (
    select asked.*, job."id" as id
      from "unstuck"."jobs" job
      join "unstuck".new_jobs(p_shared, p_payloads, p_jobs, p_now, p_max_attempts) asked
        on asked.type = job."type"::text and asked.dedupe_key = job."dedupe_key"::text
     where job."id" = any (v_waiting) and asked.place in (select place from pg_catalog.unnest(v_last) place)
  ), changed as (
    update "unstuck"."jobs" job
       set "queue" = held.queue, "payload" = held.payload, "priority" = held.priority, "owner" = held.owner,
           "run_at" = held.run_at, "stage" = held.stage, "expected_duration_ms" = held.expected_duration_ms,
           "max_attempts" = held.max_attempts, "traceparent" = held.traceparent,
           "backoff_steps_ms" = held.backoff_steps_ms, "expires_at" = held.expires_at,
           "group_key" = held.group_key, "updated_at" = p_now,
           "generation" = coalesce(job."generation", 1) + 1, "attempt" = 0, "failures" = 0, "crashes" = 0,
           "timeouts" = 0, "reaped_at" = null, "progress_value" = null, "progress_text" = null,
           /*+last_error "last_error" = null, */ "error_code" = null, "error_reason" = null,
           "error_category" = null, "error_stack" = null, "error_attempt" = null
      from held
     where job."id" = held.id
    returning held.place, job."id" as id, coalesce(job."queue", job."type")::text as queue, held.run_at
  )
  select jsonb_object_agg(changed.place, changed.id::text), array_agg(changed.queue),
         array_agg(coalesce("unstuck".ms_between(p_now, changed.run_at), 0::float8))
    into replaced, queues, delays_ms from changed;
  replaced := coalesce(replaced, '{}') || coalesce(
    (select jsonb_object_agg(place, null::text) from pg_catalog.unnest(v_earlier) place), '{}');
  update "unstuck"."jobs" job set "dedupe_key" = null, "reaped_at" = null where job."id" = any (v_running);
end
$$;
