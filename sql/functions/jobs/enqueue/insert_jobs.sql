-- Private: inserts jobs, except those at p_settled, those whose dedupe key an unfinished job has, and those that a
-- unique constraint of the team refuses. Returns the inserted ids, and the queue of each with the time until it is due.
create or replace function "unstuck"."insert_jobs"(
  p_shared jsonb, p_payloads jsonb, p_jobs jsonb, p_ids /*id*/uuid[], p_now timestamptz, p_max_attempts int,
  p_settled int[], out created /*id*/uuid[], out queues text[], out delays_ms float8[]
) language plpgsql as $$
/*+shared_keys
declare
  v_may_write /*id*/uuid[] := "unstuck"."hold_keys"(p_shared, p_payloads, p_jobs, p_ids, p_settled);
*/
begin
  with written as (
    insert into "unstuck"."jobs" as job
      ("id", "type", "queue", "payload", "priority", "status", "owner", "dedupe_key", "created_at", "updated_at",
       "run_at", "stage", "expected_duration_ms", "max_attempts", "traceparent", "backoff_steps_ms", "expires_at",
       "group_key")
    overriding system value
    select p_ids[asked.place], asked.type, asked.queue, asked.payload, asked.priority, /*waiting*/'waiting',
           asked.owner, asked.dedupe_key, p_now, p_now, asked.run_at, asked.stage, asked.expected_duration_ms,
           asked.max_attempts, asked.traceparent, asked.backoff_steps_ms, asked.expires_at, asked.group_key
      from "unstuck".new_jobs(p_shared, p_payloads, p_jobs, p_now, p_max_attempts) asked
     -- By a hash: a comparison with each element took a second for 10,000 jobs.
     where asked.place not in (select place from pg_catalog.unnest(p_settled) place)
       /*+shared_keys and (v_may_write is null or p_ids[asked.place] = any (v_may_write)) */
     -- In one order, so that two calls with the same keys do not deadlock.
     order by asked.type, asked.dedupe_key nulls first, asked.place
    on conflict do nothing
    returning job."id", coalesce(job."queue", job."type")::text as queue, job."run_at" as run_at
  )
  select array_agg(written."id"), array_agg(written.queue),
         array_agg(coalesce("unstuck".ms_between(p_now, written.run_at::timestamptz), 0::float8))
    into created, queues, delays_ms from written;
end
$$;
