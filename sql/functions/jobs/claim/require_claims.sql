-- Private: checks the arguments of claim_jobs.
create or replace function "unstuck".require_claims(
  p_worker_id text, p_queues text[], p_limit int, p_types text[], p_lease_ms bigint, p_marks jsonb)
returns boolean language plpgsql immutable as $$
begin
  return "unstuck".require_claim(p_worker_id, p_lease_ms)
    and "unstuck".require_list(p_queues, 'queues', 'names of queues')
    and "unstuck".require_list(coalesce(p_types, '{}'), 'types', 'names of types')
    and "unstuck".require(p_limit between 1 and 10000, 'limit', p_limit::text, 'a whole number from 1 to 10000')
    and (p_marks is null or "unstuck".require_marks(p_marks));
end
$$;
