-- Private: an operation without its lease, which is a credential.
create or replace function "unstuck".operation_record(p_operation "unstuck".operations)
returns jsonb language sql stable
return to_jsonb(p_operation) - array['attachment', 'lease_id', 'lease_expires_at', 'phase_at']
      || jsonb_build_object('phase_ms', "unstuck".ms_between(p_operation.phase_at, clock_timestamp()));
