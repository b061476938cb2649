-- The progress that jobs have reported, one object for each that has: { n, value, text }. n is its place in p_ids.
-- Numbers, because a float8 in JSON has the digits that extra_float_digits of the session asks for.
create or replace function "unstuck"."read_progress"(p_ids /*id*/uuid[])
returns setof jsonb language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  perform "unstuck".require_list(p_ids, 'ids', 'ids of jobs');
  return query
  select jsonb_build_object('n', asked.n, 'value', job."progress_value"::numeric, 'text', job."progress_text")
    from pg_catalog.unnest(p_ids) with ordinality asked(id, n)
    join "unstuck"."jobs" job on job."id" = asked.id
   where job."progress_value" is not null;
end
$$;
