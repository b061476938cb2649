-- Private: checks.
create or replace function "unstuck".require_claim(p_worker_id text, p_lease_ms bigint)
returns boolean language plpgsql immutable as $$
begin
  return "unstuck".require(length(p_worker_id) between 1 and 200, 'worker_id', p_worker_id, '1 to 200 characters')
    and "unstuck".require(coalesce(p_lease_ms, 1) between 1 and 31536000000, 'lease_ms', p_lease_ms::text,
                          'milliseconds from 1 to one year');
end
$$;
