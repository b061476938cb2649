-- Private: the next priority after p_after in which a job with a group is due. Jumps from priority to priority by
-- "jobs_grouped": by the lane in "jobs_ready" it would pass all jobs without a group, before PostgreSQL 18. After a
-- hundred priorities in which none is due the rest is scanned at once, by the due times in the index.
create or replace function "unstuck"."group_level"(p_queue text, p_after int)
returns int language plpgsql stable as $$
declare
  v_priority int := p_after;
begin
  for v_skipped in 1 .. 100 loop
    v_priority := (select job."priority" from "unstuck"."jobs" job
                    where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = p_queue
                      and job."priority" > v_priority and job."group_key" is not null
                    order by job."priority" limit 1);
    if v_priority is null or exists (
      select from "unstuck"."jobs" job
       where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = p_queue
         and job."priority" = v_priority and (job."group_key" is not null)::int = 1
         and coalesce(job."run_at", job."created_at") <= now()) then
      return v_priority;
    end if;
  end loop;
  return (select job."priority" from "unstuck"."jobs" job
           where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = p_queue
             and job."priority" > v_priority and job."group_key" is not null
             and coalesce(job."run_at", job."created_at") <= now()
           order by job."priority" limit 1);
end
$$;
