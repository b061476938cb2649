-- Private: notes for the dispatcher that jobs wait again, in the transaction that put them back. Callers look at the
-- policy first, so that tables without a dispatcher pay nothing. A job has one row at most, and the newest one
-- counts.
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
