-- Private: locks the next due jobs of groups, all of one priority: p_limit at most, and as many of each group as it has
-- places. The caller has locked the groups in an earlier statement, so this one sees all that runs of them.
-- The groups share the limit: all of them come before the second share of any. is_full: one has no place left.
-- The place of a job for which a worker is reserved is left to that job, which comes first.
create or replace function "unstuck"."lock_grouped"(
  p_queue text, p_groups text[], p_limit int, p_places int, p_priority int, p_types jsonb,
  p_policy "unstuck".policies, p_skips text[], out starts timestamptz[], out ids /*id*/uuid[], out is_full boolean)
language plpgsql as $$
declare
  v_share int := greatest(1, p_limit / cardinality(p_groups));
  v_kept /*id*/uuid;
  v_kept_group text;
begin
  if p_places is not null then
    select kept.id, kept.group_key into v_kept, v_kept_group from "unstuck"."reserved_place"(p_queue) kept;
  end if;
  with running as materialized (
    select job."group_key"::text as name, count(*)::int as jobs from "unstuck"."jobs" job
     where p_places is not null and job."status" in /*running_words*/('running')
       and coalesce(job."queue", job."type")::text = p_queue
       and job."group_key" is not null and job."group_key"::text = any (p_groups)
     group by job."group_key"::text
  ), counted as materialized (
    select asked.name, greatest(0, least(v_share, p_places - coalesce(running.jobs, 0)
             - (asked.name is not distinct from v_kept_group)::int)) as places
      from pg_catalog.unnest(p_groups) asked(name) left join running on running.name = asked.name
  ), locked as materialized (
    select job.id, job.due_at
      from counted, lateral (
        select job."id" as id, coalesce(job."run_at", job."created_at") as due_at
          from "unstuck"."jobs" job
         where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = p_queue
           and job."priority" = p_priority and job."group_key" is not null and job."group_key"::text = counted.name
           and coalesce(job."run_at", job."created_at") <= now()
           and (p_types is null or p_types ? job."type"::text)
           and ("unstuck"."chance_of"(p_policy, job."attempt", job."failures", job."crashes", job."timeouts",
                                      job."max_attempts", job."expires_at") = any (p_skips)) is not true
         order by coalesce(job."run_at", job."created_at"), job."id" limit counted.places
           for no key update of job skip locked) job
     limit p_limit)
  select array_agg(locked.due_at order by locked.due_at, locked.id),
         array_agg(locked.id order by locked.due_at, locked.id), exists (select from counted where counted.places = 0)
    into starts, ids, is_full from locked;
  if v_kept_group = any (p_groups) and v_kept <> all (coalesce(ids, '{}')) and 'last'::text <> all (p_skips)
     and "unstuck"."group_running"(p_queue, v_kept_group, p_places) < p_places then
    with kept as materialized (
      select job."id" as id, coalesce(job."run_at", job."created_at") as due_at
        from "unstuck"."jobs" job
       where job."id" = v_kept and job."status" is not distinct from /*waiting*/'waiting'
         and job."priority" = p_priority and (p_types is null or p_types ? job."type"::text)
         for no key update of job skip locked)
    select array_cat(array_agg(kept.due_at), starts), array_cat(array_agg(kept.id), ids) into starts, ids from kept;
  end if;
end
$$;

-- Private: locks the first waiting jobs of groups in order, and returns those of the first priority. The first is the
-- one with the smallest id: while it is in backoff or locked by somebody else, its group waits, unless it expires
-- before it is due, and so never runs. It is found in the statement that looks for running jobs, because one of them
-- may come back and be the first again. is_full: a job of one of the groups runs.
create or replace function "unstuck"."lock_heads"(
  p_queue text, p_groups text[], p_limit int, p_types jsonb, p_policy "unstuck".policies, p_skips text[],
  out priority int, out starts timestamptz[], out ids /*id*/uuid[], out is_full boolean)
language plpgsql as $$
#variable_conflict use_column
begin
  with running as materialized (
    select job."group_key"::text as name from "unstuck"."jobs" job
     where job."status" in /*running_words*/('running') and coalesce(job."queue", job."type")::text = p_queue
       and job."group_key" is not null and job."group_key"::text = any (p_groups)
  ), head as materialized (
    select first.id, asked.name in (select running.name from running) as is_running
      from pg_catalog.unnest(p_groups) asked(name), lateral (
             select job."id" as id from "unstuck"."jobs" job
              where job."status" in /*unfinished_words*/('waiting', 'running')
                and job."status" = (select /*waiting*/'waiting') and coalesce(job."queue", job."type")::text = p_queue
                and job."group_key" is not null and job."group_key"::text = asked.name
                and (job."expires_at" <= now() and job."run_at" > now()) is not true
              order by job."id" limit 1) first
  ), locked as materialized (
    select job."id" as id, job."priority" as priority, coalesce(job."run_at", job."created_at") as due_at
      from head join "unstuck"."jobs" job on job."id" = head.id
     where not head.is_running and job."status" is not distinct from /*waiting*/'waiting'
       and coalesce(job."run_at", job."created_at") <= now()
       and (p_types is null or p_types ? job."type"::text)
       and ("unstuck"."chance_of"(p_policy, job."attempt", job."failures", job."crashes", job."timeouts",
                                  job."max_attempts", job."expires_at") = any (p_skips)) is not true
     limit p_limit for no key update of job skip locked)
  select min(locked.priority), array_agg(locked.due_at order by locked.due_at, locked.id),
         array_agg(locked.id order by locked.due_at, locked.id), exists (select from head where head.is_running)
    into priority, starts, ids, is_full
    from locked where locked.priority = (select min(locked.priority) from locked);
end
$$;
