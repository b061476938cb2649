-- Private: inserts jobs, except those whose dedupe key an unfinished job has and those that a unique constraint of the
-- team refuses. Returns the inserted ids, and the queue of each with the time until it is due.
create or replace function "unstuck"."insert_jobs"(
  p_jobs jsonb, p_ids /*id*/uuid[], p_now timestamptz, p_max_attempts int,
  out created /*id*/uuid[], out queues text[], out delays_ms float8[]
) language plpgsql as $$
/*+shared_keys
declare
  v_may_write /*id*/uuid[] := "unstuck"."hold_keys"(p_jobs, p_ids);
*/
begin
  with written as (
    insert into "unstuck"."jobs" as job
      ("id", "type", "queue", "payload", "priority", "status", "owner", "dedupe_key", "created_at", "updated_at",
       "run_at", "stage", "expected_duration_ms", "max_attempts", "traceparent")
    overriding system value
    select asked.id, requested ->> 'type', requested ->> 'queue', coalesce(requested -> 'payload', '{}'),
           coalesce((requested ->> 'priority')::numeric::int, 0), /*waiting*/'waiting', requested ->> 'owner',
           requested ->> 'dedupe_key', p_now, p_now,
           -- Rounded, because float8 refuses numbers that are nearly 0.
           coalesce((requested ->> 'run_at')::timestamptz,
                    "unstuck".after_ms(p_now, round((requested ->> 'delay_ms')::numeric, 3)::float8)),
           requested ->> 'stage', (requested ->> 'expected_duration_ms')::numeric::int,
           coalesce((requested ->> 'max_attempts')::numeric::int, p_max_attempts), requested ->> 'traceparent'
      from rows from (pg_catalog.unnest(p_ids), jsonb_array_elements(p_jobs)) asked(id, requested)
     /*+shared_keys where v_may_write is null or asked.id = any (v_may_write) */
     -- In one order, so that two calls with the same keys do not deadlock.
     order by requested ->> 'type', requested ->> 'dedupe_key' nulls first, asked.id
    on conflict do nothing
    returning job."id", coalesce(job."queue", job."type")::text as queue, job."run_at" as run_at
  )
  select array_agg(written."id"), array_agg(written.queue),
         array_agg(coalesce("unstuck".ms_between(p_now, written.run_at::timestamptz), 0::float8))
    into created, queues, delays_ms from written;
end
$$;
