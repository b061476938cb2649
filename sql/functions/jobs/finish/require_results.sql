-- Private: the results of jobs as JSON: one for each job, by its place. Only a cast can tell what is JSON before
-- PostgreSQL 16.
create or replace function "unstuck".require_results(p_results text[], p_jobs int)
returns jsonb[] language plpgsql immutable as $$
declare
  v_result text;
begin
  if p_results is null then
    return null;
  end if;
  perform "unstuck".require(
    cardinality(p_results) = p_jobs and coalesce(array_ndims(p_results), 1) = 1,
    'results', format('%s results for %s jobs', cardinality(p_results), p_jobs),
    'one for each job in an array of one dimension, or NULL');
  begin
    return p_results::jsonb[];
  exception when data_exception or program_limit_exceeded then
    null;
  end;
  -- One of them is no JSON: which one is only asked here.
  foreach v_result in array p_results loop
    begin
      perform v_result::jsonb;
    exception when data_exception or program_limit_exceeded then
      perform "unstuck".require(false, 'results', v_result, 'JSON that PostgreSQL can store');
    end;
  end loop;
  return null;
end
$$;
