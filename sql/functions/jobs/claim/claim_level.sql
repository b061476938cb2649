-- Private: the next priority after p_priority that may have due jobs, and its queues, the one with the earliest job
-- first, with these jobs. A priority whose first job is not due is skipped here: as a step of the claim, 20,000
-- priorities in backoff made an empty claim take 1.1 s instead of 0.4 s. After a hundred of them the rest is scanned
-- at once, by the due times in the index: that takes 2 ms.
-- A priority with a cursor is taken without looking: before the cursor lie the index entries of all jobs claimed so
-- far, and vacuum cannot remove them while somebody holds the horizon. Without this, a claim fell from 38,000 to
-- 10,000 jobs a second within 18 s.
-- Jobs with a group are no part of it. They come after the others of their priority in the index, so the first entry
-- tells: a condition on that key would make PostgreSQL 18 skip from priority to priority, 4 µs for each queue.
create or replace function "unstuck"."claim_level"(
  p_queues text[], p_priority int, p_cursors jsonb, out priority int, out queues text[], out due_at timestamptz[],
  out ids /*id*/uuid[])
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_after int := p_priority;
  v_cursors int[];
begin
  for v_skipped in 0 .. 100 loop
    if v_skipped = 100 then
      v_after := "unstuck"."due_level"(p_queues, v_after, p_cursors) - 1;
    end if;
    if p_cursors is not null then
      v_cursors := "unstuck".next_cursors(p_queues, p_cursors, v_after);
    end if;
    select head.priority, array_agg(head.queue order by head.due_at nulls first, head.id) filter (where head.is_due),
           array_agg(head.due_at order by head.due_at nulls first, head.id) filter (where head.is_due),
           array_agg(head.id order by head.due_at nulls first, head.id) filter (where head.is_due)
      into priority, queues, due_at, ids
      from (select queue.name as queue, coalesce(level.priority, queue.cursor) as priority, level.due_at,
                   level.id, coalesce(level.due_at <= now() and level.lane = 0, level.priority is null) as is_due
              from unnest(p_queues, v_cursors) queue(name, cursor)
              left join lateral (
                select job."priority" as priority, (job."group_key" is not null)::int as lane,
                       coalesce(job."run_at", job."created_at") as due_at, job."id" as id
                  from "unstuck"."jobs" job
                 where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = queue.name
                   and job."priority" > v_after and job."priority" < coalesce(queue.cursor, 2147483648)
                 order by job."priority", (job."group_key" is not null)::int,
                          coalesce(job."run_at", job."created_at"), job."id" limit 1) level on true)
             head
     where head.priority is not null
     group by head.priority order by head.priority limit 1;
    exit when priority is null or queues is not null;
    v_after := priority;
  end loop;
end
$$;

-- Private: the next priority after p_priority that has a due job or a cursor.
create or replace function "unstuck"."due_level"(p_queues text[], p_priority int, p_cursors jsonb)
returns int language plpgsql stable as $$
begin
  return (
    select min(coalesce(level.priority, queue.cursor))
      from unnest(p_queues, "unstuck".next_cursors(p_queues, p_cursors, p_priority)) queue(name, cursor)
      left join lateral (select job."priority" as priority
                           from "unstuck"."jobs" job
                          where job."status" = /*waiting*/'waiting'
                            and coalesce(job."queue", job."type")::text = queue.name and job."priority" > p_priority
                            and job."priority" < coalesce(queue.cursor, 2147483648)
                            and (job."group_key" is not null)::int = 0
                            and coalesce(job."run_at", job."created_at") <= now()
                          order by job."priority" limit 1) level on true);
end
$$;

-- Private: for each queue the first priority after p_priority that has a cursor. By one statement for all: a call for
-- each of 20 queues took a fifth of the claim. Not inlined: few claims have cursors.
create or replace function "unstuck".next_cursors(p_queues text[], p_cursors jsonb, p_priority int)
returns int[] language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return array(select (select min(entry.key::int) from jsonb_object_keys(p_cursors -> queue.name) entry(key)
                        where entry.key::int > p_priority)
                 from pg_catalog.unnest(p_queues) with ordinality queue(name, place) order by queue.place);
end
$$;

-- Private: where claim_level finds one job, if it may be claimed: just before its priority, from its due time on. Locks
-- it, so that the claim need not search for it among later ones.
create or replace function "unstuck"."claim_level_of"(
  p_id /*id*/uuid, p_queues text[], p_types text[], out priority int, out queues text[], out cursors jsonb)
language plpgsql as $$
begin
  select job."priority" - 1, array[coalesce(job."queue", job."type")::text], jsonb_build_object(
           coalesce(job."queue", job."type")::text, jsonb_build_object(
             job."priority", to_jsonb(coalesce(job."run_at", job."created_at"))))
    into priority, queues, cursors
    from "unstuck"."jobs" job
   where job."id" = p_id and job."status" is not distinct from /*waiting*/'waiting'
     and coalesce(job."run_at", job."created_at") <= now()
     and coalesce(job."queue", job."type")::text = any (p_queues)
     and (p_types is null or job."type"::text = any (p_types))
     for no key update of job skip locked;
end
$$;

-- Private: the queue of a job, as a list.
create or replace function "unstuck"."queue_of"(p_id /*id*/uuid)
returns text[] language plpgsql stable set enable_seqscan = off as $$
begin
  return array(select coalesce(job."queue", job."type")::text from "unstuck"."jobs" job where job."id" = p_id);
end
$$;
