-- Private: checks for ids and lease ids in two arrays of the same length.
create or replace function "unstuck".require_leases(p_ids anyarray, p_lease_ids uuid[])
returns boolean language plpgsql immutable as $$
begin
  return "unstuck".require(
    cardinality(p_ids) = cardinality(p_lease_ids)
      and coalesce(array_ndims(p_ids), 1) = 1 and coalesce(array_ndims(p_lease_ids), 1) = 1
      and array_position(p_ids, null) is null and array_position(p_lease_ids, null) is null,
    'leases',
    format('%s ids and %s lease ids', coalesce(cardinality(p_ids)::text, 'NULL'),
           coalesce(cardinality(p_lease_ids)::text, 'NULL')),
    'as many ids as lease ids, in one dimension, none of them NULL');
end
$$;
