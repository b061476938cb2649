-- Private: records requeued jobs for the dispatcher, in the transaction that requeues them. Callers check the policy
-- first, so that tables without a dispatcher pay nothing. At most one row per job; the newest counts.
create or replace function "unstuck".record_dispatches(p_policy "unstuck".policies, p_job_ids text[])
returns int language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  insert into "unstuck".dispatches (attachment, job_id, dispatch_id, next_try_at, created_at)
  select p_policy.attachment, id, gen_random_uuid(), v_now, v_now from unnest(p_job_ids) id
  on conflict (attachment, job_id) do update
     set dispatch_id = excluded.dispatch_id, tries = 0, next_try_at = excluded.next_try_at, last_error = null,
         created_at = excluded.created_at;
  return coalesce(cardinality(p_job_ids), 0);
end
$$;
