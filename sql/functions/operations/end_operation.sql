-- Ends an operation for its holder; p_stopped is the reason if early. Returns NULL if the lease was lost.
create or replace function "unstuck".end_operation(
  p_attachment text, p_id uuid, p_lease_id uuid, p_state text, p_stopped text default null)
returns jsonb language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_operation "unstuck".operations;
begin
  perform "unstuck".require(p_state in ('done', 'stopped', 'failed'), 'state', p_state, 'done, stopped or failed');
  update "unstuck".operations
     set state = p_state, stopped = left(p_stopped, 500), ended_at = v_now, lease_id = null,
         lease_expires_at = null
   where id = p_id and attachment = p_attachment and lease_id = p_lease_id and state = 'running'
  returning * into v_operation;
  return case when found then "unstuck".operation_record(v_operation) end;
end
$$;
