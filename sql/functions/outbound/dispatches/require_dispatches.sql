-- Private: checks for ids of jobs and of dispatches in two arrays of the same length.
create or replace function "unstuck".require_dispatches(p_job_ids text[], p_dispatch_ids uuid[])
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return "unstuck".require(
    cardinality(p_job_ids) = cardinality(p_dispatch_ids)
      and coalesce(array_ndims(p_job_ids), 1) = 1 and coalesce(array_ndims(p_dispatch_ids), 1) = 1
      and array_position(p_job_ids, null) is null and array_position(p_dispatch_ids, null) is null,
    'dispatches',
    format('%s job ids and %s dispatch ids', coalesce(cardinality(p_job_ids)::text, 'NULL'),
           coalesce(cardinality(p_dispatch_ids)::text, 'NULL')),
    'as many job ids as dispatch ids, in one dimension, none of them NULL');
end
$$;
