-- Private: how many jobs of a queue run, counted up to p_limit. Reads what runs of the table.
create or replace function "unstuck"."queue_running"(p_queue text, p_limit int)
returns int language plpgsql set enable_seqscan = off as $$
begin
  return (select count(*) from (
    select from "unstuck"."jobs" job
     where job."status" in /*running_words*/('running') and coalesce(job."queue", job."type")::text = p_queue
     limit p_limit) running);
end
$$;

-- Private: how many jobs of a group run, counted up to p_limit.
create or replace function "unstuck"."group_running"(p_queue text, p_group text, p_limit int)
returns int language plpgsql set enable_seqscan = off as $$
begin
  return (select count(*) from (
    select from "unstuck"."jobs" job
     where job."status" in /*running_words*/('running') and coalesce(job."queue", job."type")::text = p_queue
       and job."group_key" is not null and job."group_key"::text = p_group limit p_limit) running);
end
$$;

-- Private: the first waiting job of a group. One that expired before it was due is none: it never runs.
create or replace function "unstuck"."group_head"(p_queue text, p_group text)
returns /*id*/uuid language plpgsql set enable_seqscan = off as $$
begin
  return (select job."id" from "unstuck"."jobs" job
           where job."status" in /*unfinished_words*/('waiting', 'running')
             and job."status" = (select /*waiting*/'waiting') and coalesce(job."queue", job."type")::text = p_queue
             and job."group_key" is not null and job."group_key"::text = p_group
             and (job."expires_at" <= now() and job."run_at" > now()) is not true
           order by job."id" limit 1);
end
$$;

-- Private: the limits that a waiting job of this queue and group meets, and what runs beside them, counted up to them.
create or replace function "unstuck"."limit_facts"(p_queue text, p_group text)
returns jsonb language plpgsql as $$
declare
  v_limit "unstuck".queue_limits;
  v_places int;
begin
  select * into v_limit from "unstuck".queue_limits where attachment = /*attachment*/'native' and queue = p_queue;
  if not found then
    return jsonb_build_object('limit', null);
  end if;
  v_places := case when p_group is not null then v_limit.group_concurrency end;
  return jsonb_build_object('limit', jsonb_build_object(
    'concurrency', v_limit.concurrency, 'group', p_group, 'group_concurrency', v_places,
    'running', case when v_limit.concurrency is not null
      then "unstuck"."queue_running"(p_queue, v_limit.concurrency) end,
    'group_running', case when v_places is not null then "unstuck"."group_running"(p_queue, p_group, v_places) end,
    'head_id', case when p_group is not null and v_limit.group_order is not null
      then "unstuck"."group_head"(p_queue, p_group) end));
end
$$;
