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

-- Private: the first waiting job of a group.
create or replace function "unstuck"."group_head"(p_queue text, p_group text)
returns /*id*/uuid language plpgsql set enable_seqscan = off as $$
begin
  return (select job."id" from "unstuck"."jobs" job
           where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = p_queue
             and job."group_key" is not null and job."group_key"::text = p_group
           order by job."id" limit 1);
end
$$;
