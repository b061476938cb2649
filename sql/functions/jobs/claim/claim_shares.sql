-- Private: how many jobs of one priority a claim takes from each of its queues, so that due time decides across queues.
-- Counts only jobs that the claim would take. Queues come in the order of their first jobs: a last chance that is the
-- first choice of a claim may run alone (REAP-15). If there are more queues than jobs to claim, only those with the
-- earliest jobs can have a share. They are among the first queues, unless their first jobs cannot be claimed: as many
-- queues are examined as may have an earlier one, by p_due_at and p_ids.
create or replace function "unstuck"."claim_shares"(
  p_queues text[], p_due_at timestamptz[], p_ids /*id*/uuid[], p_priority int, p_limit int, p_types text[],
  p_policy "unstuck".policies, p_cursors jsonb, p_takes_any boolean, out queues text[], out shares int[])
language plpgsql as $$
declare
  v_examined int := p_limit;
  v_first text[];
  v_last_at timestamptz;
  v_last_id /*id*/uuid;
begin
  while cardinality(p_queues) > p_limit loop
    select array_agg(first.name order by first.at, first.id),
           (array_agg(first.at order by first.at, first.id))[p_limit],
           (array_agg(first.id order by first.at, first.id))[p_limit]
      into v_first, v_last_at, v_last_id
      from (select name, due.at, due.id
              from pg_catalog.unnest(p_queues[1:v_examined]) name,
                   "unstuck"."due_jobs"(name, p_priority, 1, p_types, p_policy, p_cursors, p_takes_any) due
             order by due.at, due.id limit p_limit) first;
    if v_examined >= cardinality(p_queues)
       or (v_last_at, v_last_id) < (p_due_at[v_examined + 1], p_ids[v_examined + 1]) then
      p_queues := v_first;
    end if;
    v_examined := v_examined * 4;
  end loop;
  select array_agg(share.queue order by share.place), array_agg(share.jobs order by share.place) into queues, shares
    from (select due.queue, count(*)::int as jobs, min(due.place) as place
            from (select name as queue, row_number() over (order by due.at, due.id) as place
                    from pg_catalog.unnest(p_queues) name,
                         "unstuck"."due_jobs"(name, p_priority, p_limit, p_types, p_policy, p_cursors, p_takes_any) due
                   order by due.at, due.id limit p_limit) due
           group by due.queue) share;
end
$$;

-- Private: the first due jobs of a queue and priority that a claim would take.
create or replace function "unstuck"."due_jobs"(
  p_queue text, p_priority int, p_limit int, p_types text[], p_policy "unstuck".policies, p_cursors jsonb,
  p_takes_any boolean)
returns table (at timestamptz, id /*id*/uuid) language sql stable as $$
  select coalesce(job."run_at", job."created_at") as at, job."id" as id
    from "unstuck"."jobs" job
   where job."status" = /*waiting*/'waiting'
     and coalesce(job."queue", job."type")::text = p_queue and job."priority" = p_priority
     and coalesce(job."run_at", job."created_at") <= now()
     and coalesce(job."run_at", job."created_at")
           >= coalesce((p_cursors -> p_queue ->> p_priority::text)::timestamptz, '-infinity')
     and (p_types is null or job."type"::text = any (p_types))
     and /*judged_waiting*/("unstuck".has_budget(
           p_policy, job."attempt", job."failures", job."crashes", job."timeouts", job."max_attempts"))
     and (p_takes_any or not "unstuck".is_last_chance(
           p_policy, job."attempt", job."failures", job."crashes", job."timeouts", job."max_attempts"))
   order by coalesce(job."run_at", job."created_at"), job."id" limit p_limit
$$;
