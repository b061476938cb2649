-- Private: how many due jobs of its queue stand before a waiting one; a thousand are as good as more.
create or replace function "unstuck"."jobs_ahead"(p_id /*id*/uuid)
returns int language plpgsql stable as $$
declare
  v_queue text;
  v_priority int;
  v_due_at timestamptz;
begin
  select coalesce(job."queue", job."type"), job."priority", coalesce(job."run_at", job."created_at")
    into v_queue, v_priority, v_due_at
    from "unstuck"."jobs" job where job."id" = p_id;
  return count(*)
    from (select from "unstuck"."jobs" job
           where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type")::text = v_queue
             and (job."priority", coalesce(job."run_at", job."created_at"), job."id") < (v_priority, v_due_at, p_id)
             and coalesce(job."run_at", job."created_at") <= now()
           limit 1000) ahead;
end
$$;
