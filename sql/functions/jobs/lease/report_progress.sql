-- Keeps the progress of running jobs, for the holders of their leases only: a value from 0 to 1, and a text or NULL.
-- One row for each report, in their order. A locked row is skipped, so that no report waits; the next one replaces it.
-- It neither renews a lease nor writes an event. No index has the columns, so the update is HOT (docs/adr/0050).
create or replace function "unstuck"."report_progress"(
  p_ids /*id*/uuid[], p_lease_ids uuid[], p_values float8[], p_texts text[] default null)
returns table (id text, is_kept boolean) language plpgsql set plan_cache_mode = /*plan_mode*/force_generic_plan as $$
#variable_conflict use_column
begin
  perform "unstuck".require_leases(p_ids, p_lease_ids);
  perform "unstuck".require_progress(cardinality(p_ids), p_values, p_texts);
  /*+without_progress perform "unstuck".refuse_feature(/*attachment*/'native', 'progress'); */
  return query
  with asked as materialized (
    select * from unnest(p_ids, p_lease_ids, p_values, p_texts) with ordinality asked(id, lease_id, value, text, n)
  ), held as materialized (
    select job.id, last.lease_id, last.value, last.text
      -- The last report of each lease: a statement writes a row once.
      from (select distinct on (id, lease_id) * from asked order by id, lease_id, n desc) last,
           -- Row by row through the primary key: a join would scan a table without statistics.
           lateral (select job."id" as id from "unstuck"."jobs" job
                     where job."id" = last.id and job."lease_id" = last.lease_id
                       and job."status" is not distinct from /*any_running*/'running'
                       for no key update skip locked) job
  ), kept as (
    update "unstuck"."jobs" job
       -- The lease stays as it is: the assignment is one that every table has.
       set "lease_id" = held.lease_id, "progress_value" = held.value, "progress_text" = held.text
      from held
     where job."id" = held.id and job."id" = any (p_ids)
    returning job."id" as id, held.lease_id
  )
  select asked.id::text, kept.id is not null
    from asked left join kept on kept.id = asked.id and kept.lease_id = asked.lease_id
   order by asked.n;
end
$$;

-- Private: checks values and texts of as many reports.
create or replace function "unstuck".require_progress(p_reports int, p_values float8[], p_texts text[])
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_value float8 := (select value from unnest(p_values) value where (value between 0 and 1) is not true limit 1);
  v_text text := (select text from unnest(p_texts) text where not length(text) between 1 and 200 limit 1);
begin
  perform "unstuck".require(
    cardinality(p_values) = p_reports and coalesce(array_ndims(p_values), 1) = 1
      and coalesce(cardinality(p_texts), p_reports) = p_reports and coalesce(array_ndims(p_texts), 1) = 1,
    'values', format('%s values', coalesce(cardinality(p_values)::text, 'NULL')),
    'as many values, and as many texts if there are any, as ids');
  perform "unstuck".require(
    v_value is null and array_position(p_values, null) is null, 'progress', v_value::text, 'a number from 0 to 1');
  return "unstuck".require(v_text is null, 'progress_text', v_text, '1 to 200 characters');
end
$$;
