-- Private: does an index lead from a value of this column to its jobs, in the order of their ids? Such indexes are
-- created on request (ADR 0028).
create or replace function "unstuck"."has_search_index"(p_column text)
returns boolean language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (
    select from pg_index search
      join pg_attribute first on first.attrelid = search.indrelid and first.attnum = search.indkey[0]
      join pg_attribute second on second.attrelid = search.indrelid and second.attnum = search.indkey[1]
     where search.indrelid = to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs'))
       and search.indisvalid and first.attname = p_column and first.atttypid in ('text'::regtype, 'varchar'::regtype)
       and second.attname = /*id_column*/'id'
       and coalesce(pg_get_expr(search.indpred, search.indrelid) = format('(%I IS NOT NULL)', p_column), true))
$$;

-- Private: up to p_limit ids before p_before, newest first, of one role if an index finds them. Each branch names its
-- status words, so that its partial index serves it; the caller filters the rest. The queue of a filter narrows the
-- search for waiting jobs, owner and type the one through all, if they have an index. Without a bitmap, which would
-- hold all of them before the limit counts.
create or replace function "unstuck"."scan_jobs"(
  p_role text, p_before /*id*/uuid, p_limit int, p_filter jsonb default '{}')
returns /*id*/uuid[] language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  c_few constant int := 10000;
  -- Inclusive, then without the last id of the page before: text has no highest id to stand for "no bound".
  v_from /*id*/uuid := coalesce(p_before, (select job."id" from "unstuck"."jobs" job order by job."id" desc limit 1));
  v_waiting /*id*/uuid[];
begin
  if p_role = 'waiting' then
    v_waiting := case when not p_filter ? 'queue'
      then array(select job."id" from "unstuck"."jobs" job
                  where job."status" = /*waiting*/'waiting' limit c_few + 1)
      else array(select job."id" from "unstuck"."jobs" job
                  where job."status" = /*waiting*/'waiting'
                    and coalesce(job."queue", job."type")::text = p_filter ->> 'queue' limit c_few + 1) end;
    -- "jobs_ready" is not ordered by id, so a few are all sorted. Many are met soon by a walk through all ids.
    if cardinality(v_waiting) <= c_few then
      return array(select each.id from pg_catalog.unnest(v_waiting) each(id)
                    where each.id <= v_from and each.id is distinct from p_before
                    order by each.id desc limit p_limit);
    end if;
  elsif p_role = 'running' then
    return array(select job."id" from "unstuck"."jobs" job
                  where job."status" in /*running_words*/('running')
                    and job."id" <= v_from and job."id" is distinct from p_before
                  order by job."id" desc limit p_limit);
  elsif p_role = 'dead' then
    return array(select job."id" from "unstuck"."jobs" job
                  where job."status" = /*dead*/'dead'
                    and job."id" <= v_from and job."id" is distinct from p_before
                  order by job."id" desc limit p_limit);
  end if;
  if p_filter ? 'owner' and "unstuck"."has_search_index"(/*owner_column*/'owner') then
    return array(select job."id" from "unstuck"."jobs" job
                  where job."owner"::text = p_filter ->> 'owner'
                    and job."id" <= v_from and job."id" is distinct from p_before
                  order by job."id" desc limit p_limit);
  elsif p_filter ? 'type' and "unstuck"."has_search_index"(/*type_column*/'type') then
    return array(select job."id" from "unstuck"."jobs" job
                  where job."type"::text = p_filter ->> 'type'
                    and job."id" <= v_from and job."id" is distinct from p_before
                  order by job."id" desc limit p_limit);
  end if;
  return array(select job."id" from "unstuck"."jobs" job
                where job."id" <= v_from and job."id" is distinct from p_before
                order by job."id" desc limit p_limit);
end
$$;
