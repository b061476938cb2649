-- Private: the number of jobs of one priority that a claim takes from each queue, so that due time decides across
-- queues. Counts only jobs that the claim would take. After the shares, every queue comes once more for the rest:
-- another claim may have locked its share. The queue with the earliest job comes first: a last chance that is the
-- first choice of a claim may run alone (REAP-15). If there are more queues than jobs to claim, only those with the
-- earliest jobs can have a share, and only those with a due job are asked again, also if its budget is spent: the
-- claim ends it.
create or replace function "unstuck"."claim_shares"(
  p_queues text[], p_priority int, p_limit int, p_types text[], p_policy "unstuck".policies,
  p_cursors jsonb, p_takes_any boolean)
returns table (queue text, share int) language plpgsql as $$
declare
  v_queues text[] := p_queues;
begin
  if cardinality(p_queues) > p_limit then
    v_queues := array(
      select name
        from (select distinct pg_catalog.unnest(p_queues) as name) asked,
             "unstuck"."due_jobs"(name, p_priority, 1, p_types, p_policy, p_cursors, p_takes_any, true) due
       order by due.at, due.id);
  end if;
  if cardinality(p_queues) > 1 then
    return query
    select head.queue, count(*)::int
      from (select name as queue, row_number() over (order by due.at, due.id) as place
              from (select distinct pg_catalog.unnest(v_queues[1:p_limit]) as name) asked,
                   "unstuck"."due_jobs"(name, p_priority, p_limit, p_types, p_policy, p_cursors, p_takes_any, false)
                     due
             order by due.at, due.id limit p_limit) head
     group by head.queue
     order by min(head.place);
  end if;
  return query select name, p_limit from pg_catalog.unnest(v_queues) name;
end
$$;

-- Private: the first due jobs of a queue and priority that a claim would take, or would end if p_takes_spent.
create or replace function "unstuck"."due_jobs"(
  p_queue text, p_priority int, p_limit int, p_types text[], p_policy "unstuck".policies, p_cursors jsonb,
  p_takes_any boolean, p_takes_spent boolean)
returns table (at timestamptz, id /*id*/uuid) language sql stable as $$
  select coalesce(job."run_at", job."created_at") as at, job."id" as id
    from "unstuck"."jobs" job
   where job."status" = /*waiting*/'waiting'
     and coalesce(job."queue", job."type")::text = p_queue and job."priority" = p_priority
     and coalesce(job."run_at", job."created_at") <= now()
     and coalesce(job."run_at", job."created_at")
           >= coalesce((p_cursors -> p_queue ->> p_priority::text)::timestamptz, '-infinity')
     and (p_types is null or job."type"::text = any (p_types))
     and (p_takes_spent or /*judged_waiting*/("unstuck".has_budget(
           p_policy, job."attempt", job."failures", job."crashes", job."timeouts", job."max_attempts")))
     and (p_takes_any or not "unstuck".is_last_chance(
           p_policy, job."attempt", job."failures", job."crashes", job."timeouts", job."max_attempts"))
   order by coalesce(job."run_at", job."created_at"), job."id" limit p_limit
$$;
