-- Private: writes jobs, but for those whose dedupe key an unfinished job has and those that a unique constraint of the
-- team refuses, and says which and whether one of them is due.
create or replace function "unstuck"."insert_jobs"(
  p_jobs jsonb, p_ids /*id*/uuid[], p_now timestamptz, p_max_attempts int,
  out created /*id*/uuid[], out is_due boolean
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
    select asked.id, wish ->> 'type', wish ->> 'queue', coalesce(wish -> 'payload', '{}'),
           coalesce((wish ->> 'priority')::numeric::int, 0), /*waiting*/'waiting', wish ->> 'owner',
           wish ->> 'dedupe_key', p_now, p_now,
           -- Rounded, for float8 refuses to read what is nearly nothing.
           coalesce((wish ->> 'run_at')::timestamptz,
                    "unstuck".after_ms(p_now, round((wish ->> 'delay_ms')::numeric, 3)::float8)),
           wish ->> 'stage', (wish ->> 'expected_duration_ms')::numeric::int,
           coalesce((wish ->> 'max_attempts')::numeric::int, p_max_attempts), wish ->> 'traceparent'
      from rows from (pg_catalog.unnest(p_ids), jsonb_array_elements(p_jobs)) asked(id, wish)
     /*+shared_keys where v_may_write is null or asked.id = any (v_may_write) */
     -- Two calls with the same keys wait for each other in one order.
     order by wish ->> 'type', wish ->> 'dedupe_key' nulls first, asked.id
    on conflict do nothing
    returning job."id", job."run_at"
  )
  select array_agg(written."id"), bool_or(coalesce(written."run_at" <= p_now, true)) into created, is_due from written;
end
$$;
