-- Ids and lease ids come as two arrays of one length.
create or replace function "unstuck".require_leases(p_ids int, p_lease_ids int, p_has_null boolean)
returns boolean language plpgsql immutable as $$
begin
  return "unstuck".require(p_ids = p_lease_ids and not coalesce(p_has_null, true), 'leases',
                           format('%s ids and %s lease ids', coalesce(p_ids::text, 'NULL'), coalesce(p_lease_ids::text, 'NULL')),
                           'as many ids as lease ids, none of them NULL');
end
$$;
