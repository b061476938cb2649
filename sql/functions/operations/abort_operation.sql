-- Stops an operation: a step in progress finishes first, and the next is refused. p_owner restricts the call to
-- operations of that owner. Returns { outcome, operation }.
create or replace function "unstuck".abort_operation(
  p_attachment text, p_id uuid, p_owner text default null, p_actor text default null)
returns jsonb language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_operation "unstuck".operations;
begin
  update "unstuck".operations
     set state = 'stopped', stopped = 'interrupted', ended_at = v_now, lease_id = null,
         lease_expires_at = null
   where id = p_id and attachment = p_attachment and (p_owner is null or owner = p_owner) and state = 'running'
  returning * into v_operation;
  if found then
    perform "unstuck".record_audit_entry(p_attachment, 'operation-stopped', p_id::text, p_actor, null);
    return jsonb_build_object('outcome', 'stopped', 'operation', "unstuck".operation_record(v_operation));
  end if;
  select * into v_operation from "unstuck".operations
   where id = p_id and attachment = p_attachment and (p_owner is null or owner = p_owner);
  return case when found
    then jsonb_build_object('outcome', 'already-ended', 'operation', "unstuck".operation_record(v_operation))
    else jsonb_build_object('outcome', 'not-found', 'operation', null) end;
end
$$;
