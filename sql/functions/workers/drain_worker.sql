-- Asks a worker to stop claiming, finish its jobs and exit; it learns of it with its next report. Returns asked,
-- already-asked, stopped or not-found.
create or replace function "unstuck".drain_worker(
  p_attachment text, p_worker_id text, p_actor text default null, p_reason text default null)
returns text language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_worker "unstuck".workers;
begin
  perform "unstuck".require(length(p_worker_id) between 1 and 1000, 'worker_id', p_worker_id, '1 to 1000 characters');
  select * into v_worker from "unstuck".workers
   where attachment = p_attachment and worker_id = p_worker_id for no key update;
  if not found then
    return 'not-found';
  elsif v_worker.stopped_at is not null then
    return 'stopped';
  elsif v_worker.drain_requested_at is not null then
    return 'already-asked';
  end if;
  update "unstuck".workers
     set drain_requested_at = v_now, drain_requested_by = p_actor, drain_reason = p_reason
   where attachment = p_attachment and worker_id = p_worker_id;
  perform "unstuck".record_audit_entry(p_attachment, 'worker-drained', p_worker_id, p_actor, p_reason);
  return 'asked';
end
$$;
