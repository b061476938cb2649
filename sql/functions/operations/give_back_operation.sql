-- Gives up the lease of an operation, so that the next process continues at once. Returns false if it was lost.
create or replace function "unstuck".give_back_operation(p_attachment text, p_id uuid, p_lease_id uuid)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update "unstuck".operations set lease_id = null, lease_expires_at = null
   where id = p_id and attachment = p_attachment and lease_id = p_lease_id and state = 'running';
  return found;
end
$$;
