-- Private: up to p_limit ids before p_before, newest first, of one role if that has its own index. Each branch names
-- its status words, so that its partial index serves it; the caller filters jobs that ended without being dead.
create or replace function "unstuck"."scan_jobs"(p_role text, p_before /*id*/uuid, p_limit int)
returns /*id*/uuid[] language plpgsql stable set enable_seqscan = off as $$
declare
  -- Inclusive, then without the last id of the page before: text has no highest id to stand for "no bound".
  v_from /*id*/uuid := coalesce(p_before, (select job."id" from "unstuck"."jobs" job order by job."id" desc limit 1));
begin
  if p_role = 'waiting' then
    -- Materialized: with its sort and limit in one query it would scan all finished rows by id.
    return array(with waiting as materialized (
                   select job."id" as id from "unstuck"."jobs" job where job."status" = /*waiting*/'waiting')
                 select waiting.id from waiting
                  where waiting.id <= v_from and waiting.id is distinct from p_before
                  order by waiting.id desc limit p_limit);
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
  return array(select job."id" from "unstuck"."jobs" job
                where job."id" <= v_from and job."id" is distinct from p_before
                order by job."id" desc limit p_limit);
end
$$;
