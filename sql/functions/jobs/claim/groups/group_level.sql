-- Private: the next priority after p_after in which a job with a group is due. Jumps from priority to priority by
-- "jobs_grouped": by the lane in "jobs_ready" it would pass all jobs without a group, before PostgreSQL 18. After a
-- hundred priorities in which none is due it returns the next one all the same.
create or replace function "unstuck"."group_level"(p_queue text, p_after int)
returns int language plpgsql stable as $$
declare
  v_priority int := p_after;
begin
  for v_skipped in 0 .. 100 loop
    v_priority := (select job."priority" from "unstuck"."jobs" job
                    where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = p_queue
                      and job."priority" > v_priority and job."group_key" is not null
                    order by job."priority" limit 1);
    exit when v_priority is null or exists (
      select from "unstuck"."jobs" job
       where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = p_queue
         and job."priority" = v_priority and (job."group_key" is not null)::int = 1
         and coalesce(job."run_at", job."created_at") <= now());
  end loop;
  return v_priority;
end
$$;
