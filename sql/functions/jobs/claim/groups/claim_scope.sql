-- Private: what a claim may take beside rules: its queues without limits, those with some (NULL if none has), whether
-- these come first, and the slots of half-open breakers. With "id" only that job, which may be the one that the worker
-- is kept for.
create or replace function "unstuck"."claim_scope"(
  p_worker_id text, p_queues text[], p_id /*id*/uuid,
  out id /*id*/uuid, out queues text[], out limited text[], out is_limited_first boolean, out slots jsonb)
language plpgsql as $$
#variable_conflict use_column
declare
  v_kept /*id*/uuid := "unstuck"."kept_job"(p_worker_id);
  v_open text[];
begin
  id := coalesce(p_id, v_kept); queues := '{}'; is_limited_first := false;
  if p_id <> v_kept then
    return;
  end if;
  select open.queues, open.slots into v_open, slots from "unstuck".open_queues(/*attachment*/'native', p_queues) open;
  if id is not null then
    v_open := array(select asked.name from pg_catalog.unnest("unstuck"."queue_of"(id)) asked(name)
                     where asked.name = any (v_open));
  end if;
  limited := "unstuck"."limited_queues"(v_open);
  queues := array(select asked.name from pg_catalog.unnest(v_open) with ordinality asked(name, place)
                   where (asked.name = any (limited)) is not true order by asked.place);
  is_limited_first := limited is not null and (cardinality(queues) = 0 or random() < 0.5::float8);
end
$$;

-- Private: those of a claim's queues that have limits or waiting jobs with groups, in random order. NULL if none has.
create or replace function "unstuck"."limited_queues"(p_queues text[])
returns text[] language plpgsql as $$
begin
  return (
    select array_agg(asked.name order by random()) from pg_catalog.unnest(p_queues) asked(name)
     where exists (select from "unstuck".queue_limits known
                    where known.attachment = /*attachment*/'native' and known.queue = asked.name)
        or exists (select from "unstuck"."jobs" job
                    where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = asked.name
                      and job."group_key" is not null));
end
$$;
