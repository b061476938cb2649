-- How jobs ended, one object for each that has: { n, status, type, result, error_code, error_reason, error_category }.
-- n is its place in p_ids. A NULL status: there is no such job, or its row is gone. Jobs that wait or run are left out.
-- In a table with its state in times the NULLs of the left join would have a status, so the id is tested first.
-- Row by row through the primary key, so that a wait for many jobs costs one search each.
create or replace function "unstuck"."read_ends"(p_ids /*id*/uuid[])
returns setof jsonb language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  perform "unstuck".require_list(p_ids, 'ids', 'ids of jobs');
  /*+without_results perform "unstuck".refuse_feature(/*attachment*/'native', 'results'); */
  return query
  select jsonb_build_object(
           'n', asked.n, 'status', case when job."id" is not null then job."status" end, 'type', job."type",
           'result', job."result", 'error_code', job."error_code", 'error_reason', job."error_reason",
           'error_category', job."error_category")
    from pg_catalog.unnest(p_ids) with ordinality asked(id, n)
    left join "unstuck"."jobs" job on job."id" = asked.id
   where job."id" is null or job."status" = /*succeeded*/'succeeded'
      or job."status" = /*dead*/'dead' or job."status" = /*cancelled*/'cancelled';
end
$$;
