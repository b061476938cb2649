-- Private: checks.
create or replace function "unstuck".require_failures(p_failures jsonb, p_id_type text)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_problem text;
begin
  perform "unstuck".require(jsonb_typeof(p_failures) = 'array', 'failures', p_failures::text, 'an array of failures');
  -- With an offset for the reason given in enqueue_jobs.
  select problem into v_problem
    from (select "unstuck".failure_problem(failure, p_id_type) as problem
            from jsonb_array_elements(p_failures) failure offset 0) checked
   where problem is not null limit 1;
  if v_problem is not null then
    raise exception using errcode = 'UN001', message = v_problem;
  end if;
  return true;
end
$$;
