-- Takes an operation that nobody runs: just begun, or its server died. Returns { operation, lease_id }, or NULL. In
-- mode observe the operations of the table wait.
create or replace function "unstuck".take_operation(p_attachment text, p_lease_ms bigint default 30000)
returns jsonb language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_id uuid;
  v_lease_id uuid := gen_random_uuid();
  v_lease_ends_at timestamptz;
  v_operation "unstuck".operations;
begin
  perform "unstuck".require(p_lease_ms between 1 and 31536000000, 'lease_ms', p_lease_ms::text,
                            'milliseconds from 1 to one year');
  select operation.id into v_id from "unstuck".operations operation
   where operation.attachment = p_attachment and operation.state = 'running'
     and (operation.lease_expires_at is null or operation.lease_expires_at <= now())
     and not exists (select from "unstuck".policies where attachment = p_attachment and is_observed)
   order by operation.id limit 1
     for no key update skip locked;
  if v_id is null then
    return null;
  end if;
  v_lease_ends_at := "unstuck".after_ms(clock_timestamp(), p_lease_ms);
  update "unstuck".operations operation
     set lease_id = v_lease_id, lease_expires_at = v_lease_ends_at
   where operation.id = v_id
  returning * into v_operation;
  return jsonb_build_object('operation', "unstuck".operation_record(v_operation), 'lease_id', v_operation.lease_id);
end
$$;
