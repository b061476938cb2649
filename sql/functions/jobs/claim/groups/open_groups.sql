-- Private: up to p_count groups with waiting jobs, from p_from on, by jumping from name to name: groups with jobs of
-- this priority, or of any if the groups are in order: these, and heads, are found by "jobs_group_members". A hidden
-- status keeps PostgreSQL from "jobs_grouped", where a jump or a head reads all that waits in the queue.
create or replace function "unstuck"."groups_from"(
  p_queue text, p_priority int, p_order text, p_from text, p_count int)
returns text[] language plpgsql stable as $$
begin
  if p_order is null then
    return array(
      with recursive turn(name, place) as (
        (select job."group_key"::text, 1 from "unstuck"."jobs" job
          where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = p_queue
            and job."priority" = p_priority and job."group_key" is not null and job."group_key"::text >= p_from
          order by job."group_key" limit 1)
        union all
        select next.name, turn.place + 1
          from turn, lateral (
            select job."group_key"::text as name from "unstuck"."jobs" job
             where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = p_queue
               and job."priority" = p_priority and job."group_key" is not null and job."group_key"::text > turn.name
             order by job."group_key" limit 1) next
         where turn.place < p_count)
      select turn.name from turn order by turn.place);
  end if;
  return array(
    with recursive turn(name, place) as (
      (select job."group_key"::text, 1 from "unstuck"."jobs" job
        where job."status" in /*unfinished_words*/('waiting', 'running')
          and job."status" = (select /*waiting*/'waiting') and coalesce(job."queue", job."type")::text = p_queue
          and job."group_key" is not null and job."group_key"::text >= p_from
        order by job."group_key" limit 1)
      union all
      select next.name, turn.place + 1
        from turn, lateral (
          select job."group_key"::text as name from "unstuck"."jobs" job
           where job."status" in /*unfinished_words*/('waiting', 'running')
             and job."status" = (select /*waiting*/'waiting') and coalesce(job."queue", job."type")::text = p_queue
             and job."group_key" is not null and job."group_key"::text > turn.name
           order by job."group_key" limit 1) next
       where turn.place < p_count)
    select turn.name from turn order by turn.place);
end
$$;

-- Private: those of these groups that have no place. Reads what runs once: for each group, PostgreSQL took the small
-- index of all running jobs, which made it a million rows for thousands of groups. Many groups are compared by a hash,
-- because each element of an array is compared with each running job.
create or replace function "unstuck"."full_groups"(p_queue text, p_groups text[], p_places int)
returns text[] language plpgsql stable as $$
begin
  if p_places is null then
    return '{}';
  elsif cardinality(p_groups) <= 200 then
    return array(
      select job."group_key"::text from "unstuck"."jobs" job
       where job."status" in /*running_words*/('running') and coalesce(job."queue", job."type")::text = p_queue
         and job."group_key" is not null and job."group_key"::text = any (p_groups)
       group by job."group_key"::text having count(*) >= p_places);
  end if;
  return array(
    select job."group_key"::text from "unstuck"."jobs" job
     where job."status" in /*running_words*/('running') and coalesce(job."queue", job."type")::text = p_queue
       and job."group_key" is not null and (job."group_key"::text in (select pg_catalog.unnest(p_groups))) is true
     group by job."group_key"::text having count(*) >= p_places);
end
$$;

-- Private: groups that seem to have a due job of these types and a place, p_limit at most, in turn from p_from on;
-- next_from is where the next claim begins. Examines more groups as long as it finds none, about 1,000 at most; the
-- groups of the jobs that have been due for longest are examined too. What it reads may be outdated, so the claim
-- counts again under locks. is_held_back: it found fewer than it looked for, and one with waiting jobs has no place.
create or replace function "unstuck"."open_groups"(
  p_queue text, p_priority int, p_order text, p_places int, p_types jsonb, p_from text, p_limit int,
  out groups text[], out next_from text, out is_held_back boolean)
language plpgsql stable as $$
declare
  v_from text := coalesce(p_from, '');
  v_count int := 20 + 2 * p_limit;
  v_names text[];
  v_late text[] := array(
    select job."group_key"::text from "unstuck"."jobs" job
     where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = p_queue
       and job."priority" = p_priority and (job."group_key" is not null)::int = 1
       and coalesce(job."run_at", job."created_at") <= now()
     order by coalesce(job."run_at", job."created_at"), job."id" limit 20);
  v_full text[];
  v_last int;
begin
  loop
    v_names := "unstuck"."groups_from"(p_queue, p_priority, p_order, v_from, v_count);
    if cardinality(v_names) < v_count and v_from > '' then
      v_names := array_cat(v_names, array(
        select again.name
          from pg_catalog.unnest("unstuck"."groups_from"(
                 p_queue, p_priority, p_order, '', v_count - cardinality(v_names))) again(name)
         where again.name < v_from));
    end if;
    v_full := "unstuck"."full_groups"(p_queue, array_cat(v_names, v_late), p_places);
    select array_agg(open.name order by open.place), max(open.place) filter (where open.place <= cardinality(v_names))
      into groups, v_last
      from (select named.name, named.place
              from (select asked.name, min(asked.place)::int as place
                      from pg_catalog.unnest(array_cat(v_names, v_late)) with ordinality asked(name, place)
                     group by asked.name order by 2 offset 0) named
             where named.name not in (select pg_catalog.unnest(v_full))
               and case when p_order is null then (
                     -- In the order of the index that has the due times: another one has all jobs of the group.
                     select true from "unstuck"."jobs" job
                      where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = p_queue
                        and job."priority" = p_priority and job."group_key" is not null
                        and job."group_key"::text = named.name
                        and coalesce(job."run_at", job."created_at") <= now()
                        and (p_types is null or p_types ? job."type"::text)
                      order by coalesce(job."run_at", job."created_at"), job."id" limit 1)
                   else (select coalesce(job."run_at", job."created_at") <= now()
                                and (p_types is null or p_types ? job."type"::text)
                           from "unstuck"."jobs" job
                          where job."status" in /*unfinished_words*/('waiting', 'running')
                            and job."status" = (select /*waiting*/'waiting')
                            and coalesce(job."queue", job."type")::text = p_queue
                            and job."group_key" is not null and job."group_key"::text = named.name
                            and (job."expires_at" <= now() and job."run_at" > now()) is not true
                          order by job."id" limit 1) end
             limit p_limit) open;
    exit when groups is not null or cardinality(v_names) < v_count or v_count >= 1000;
    v_count := v_count * 4;
  end loop;
  next_from := coalesce(v_names[v_last + 1], v_names[v_count], '');
  is_held_back := coalesce(cardinality(groups), 0) < p_limit and cardinality(v_full) > 0;
end
$$;
