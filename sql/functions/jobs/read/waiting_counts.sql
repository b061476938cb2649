-- Private: the names of up to p_limit queues with waiting jobs, in order, by jumping from name to name in "jobs_ready".
create or replace function "unstuck"."waiting_queues"(p_limit int)
returns setof text language sql stable as $$
  with recursive known(name) as (
    (select coalesce(job."queue", job."type")::text from "unstuck"."jobs" job
      where job."status" = /*waiting*/'waiting' order by coalesce(job."queue", job."type") limit 1)
    union all
    select (select coalesce(job."queue", job."type")::text from "unstuck"."jobs" job
             where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text > known.name
             order by coalesce(job."queue", job."type") limit 1)
      from known where known.name is not null
  )
  select known.name from known where known.name is not null limit p_limit
$$;

-- Private: waiting jobs by queue, next to run first, p_limit rows of all queues together. is_cut: the queue has as many
-- or more. Large queues share the limit, and those that need less leave the rest to the others: a queue is counted
-- again, up to twice, while its share grows. Reading rows costs 0.3 µs each.
create or replace function "unstuck"."waiting_counts"(p_queues text[], p_limit int)
returns table (queue text, waiting int, due int, released_often int, is_cut boolean, oldest_due_at timestamptz)
language sql stable as $$
  select round.queue, max(round.waiting), max(round.due), max(round.released_often), bool_and(round.is_cut),
         min(round.oldest_due_at)
    from "unstuck"."waiting_rounds"(p_queues, p_limit) round group by round.queue
$$;

-- Private: the rounds of waiting_counts, each with a row for every queue that the one before cut. Without a bitmap,
-- which would hold the whole queue before the limit counts.
create or replace function "unstuck"."waiting_rounds"(p_queues text[], p_limit int)
returns table (queue text, waiting int, due int, released_often int, is_cut boolean, oldest_due_at timestamptz)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  v_queues text[] := p_queues;
  v_left int := p_limit;
  -- Small queues are counted without a look at the large ones.
  v_share int := greatest(1, least(1000, p_limit / greatest(1, cardinality(p_queues))));
  v_cut text[];
begin
  for v_round in 1 .. 3 loop
    v_cut := '{}';
    for queue, waiting, due, released_often, oldest_due_at in
      select name, counted.* from pg_catalog.unnest(v_queues) name, lateral (
        select count(*)::int, count(*) filter (where seen.due_at <= now())::int,
               count(*) filter (where "unstuck".is_released_often(seen.releases, seen.started_at, now()))::int,
               min(seen.due_at) filter (where seen.due_at <= now())
          from (select coalesce(job."run_at", job."created_at") as due_at, job."releases" as releases,
                       job."started_at" as started_at
                  from "unstuck"."jobs" job
                 where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = name
                 order by coalesce(job."queue", job."type"), job."priority", (job."group_key" is not null)::int,
                          coalesce(job."run_at", job."created_at"), job."id"
                 limit v_share) seen) counted
    loop
      is_cut := waiting = v_share;
      if is_cut then
        v_cut := array_append(v_cut, queue);
      else
        v_left := v_left - waiting;
      end if;
      return next;
    end loop;
    exit when cardinality(v_cut) = 0 or v_left / cardinality(v_cut) <= v_share;
    v_share := v_left / cardinality(v_cut);
    v_queues := v_cut;
  end loop;
end
$$;

-- Private: when the longest due job became due. Looks at the first jobs of each queue and priority, without and with a
-- group, 1,000 at most: is_cut says that there may be more.
create or replace function "unstuck"."oldest_due"(out due_at timestamptz, out is_cut boolean)
language plpgsql stable as $$
#variable_conflict use_column
begin
  with recursive level(queue, priority, lane, due_at) as (
    (select coalesce(job."queue", job."type")::text, job."priority", (job."group_key" is not null)::int,
            coalesce(job."run_at", job."created_at")
       from "unstuck"."jobs" job
      where job."status" = /*waiting*/'waiting'
      order by coalesce(job."queue", job."type"), job."priority", (job."group_key" is not null)::int,
               coalesce(job."run_at", job."created_at") limit 1)
    union all
    select next.queue, next.priority, next.lane, next.due_at
      from level, lateral (
        select coalesce(job."queue", job."type")::text as queue, job."priority" as priority,
               (job."group_key" is not null)::int as lane, coalesce(job."run_at", job."created_at") as due_at
          from "unstuck"."jobs" job
         where job."status" = /*waiting*/'waiting'
           and (coalesce(job."queue", job."type")::text, job."priority", (job."group_key" is not null)::int)
               > (level.queue, level.priority, level.lane)
         order by coalesce(job."queue", job."type"), job."priority", (job."group_key" is not null)::int,
                  coalesce(job."run_at", job."created_at")
         limit 1) next
  )
  select min(first.due_at) filter (where first.due_at <= now()), count(*) = 1000 into due_at, is_cut
    from (select level.due_at from level limit 1000) first;
end
$$;
