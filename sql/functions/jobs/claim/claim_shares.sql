-- Private: how many jobs of one priority a claim takes from each of its queues, so that due time decides across queues.
-- Counts only jobs that the claim would take. Queues come in the order of their first jobs: a last chance that is the
-- first choice of a claim may run alone (REAP-15).
-- Examines few jobs: at first the queues with the earliest jobs, twice their part of the limit each. A queue all of
-- whose examined jobs are taken may have more of them, and the queues not examined have none unless the first of them,
-- by p_due_at and p_ids, is earlier than the last job taken. Examining the whole limit in each of 20 queues took 5 ms
-- of CPU for 100 jobs.
create or replace function "unstuck"."claim_shares"(
  p_queues text[], p_due_at timestamptz[], p_ids /*id*/uuid[], p_priority int, p_limit int, p_types jsonb,
  p_policy "unstuck".policies, p_cursors jsonb, p_skips text[], out queues text[], out shares int[])
language plpgsql as $$
declare
  v_examined int := least(p_limit, cardinality(p_queues));
  v_depth int := 2 * p_limit / v_examined;
  v_depths int[] := array_fill(v_depth, array[v_examined]);
  v_skips text[] := array_append(p_skips, 'spent'::text);
  v_is_cut boolean;
  v_is_enough boolean;
begin
  queues := p_queues[1:v_examined];
  loop
    with first as materialized (
      select asked.queue, asked.depth, job.at, job.id, row_number() over (order by job.at, job.id) as place
        from unnest(queues, v_depths) asked(queue, depth),
             lateral (
               select coalesce(job."run_at", job."created_at") as at, job."id" as id
                 from "unstuck"."jobs" job
                where job."status" = /*waiting*/'waiting'
                  and coalesce(job."queue", job."type")::text = asked.queue and job."priority" = p_priority
                  and (job."group_key" is not null)::int = 0
                  and coalesce(job."run_at", job."created_at") <= now()
                  and coalesce(job."run_at", job."created_at")
                        >= coalesce((p_cursors -> asked.queue ->> p_priority::text)::timestamptz, '-infinity')
                  and (p_types is null or p_types ? job."type"::text)
                  and ("unstuck"."chance_of"(p_policy, job."attempt", job."failures", job."crashes", job."timeouts",
                                             job."max_attempts", job."expires_at") = any (v_skips)) is not true
                order by coalesce(job."run_at", job."created_at"), job."id" limit asked.depth) job
       order by job.at, job.id limit p_limit)
    select array_agg(share.queue order by share.place), array_agg(share.jobs order by share.place),
           array_agg(share.depth * case when share.jobs = share.depth then 4 else 1 end order by share.place),
           bool_or(share.jobs = share.depth and share.depth < p_limit),
           v_examined >= cardinality(p_queues)
             or coalesce((select (first.at, first.id) < (p_due_at[v_examined + 1], p_ids[v_examined + 1])
                            from first where first.place = p_limit), false)
      into queues, shares, v_depths, v_is_cut, v_is_enough
      from (select first.queue, first.depth, count(*)::int as jobs, min(first.place) as place
              from first group by first.queue, first.depth) share;
    exit when v_is_enough and v_is_cut is not true;
    if not v_is_enough then
      queues := array_cat(queues, p_queues[v_examined + 1 : 4 * v_examined]);
      v_depths := array_cat(
        v_depths, array_fill(v_depth, array[cardinality(queues) - coalesce(cardinality(v_depths), 0)]));
      v_examined := 4 * v_examined;
    end if;
  end loop;
end
$$;
