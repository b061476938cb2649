-- Private: is any queue of this table paused, limited or bound to a dependency, has any waiting job a group, or is any
-- worker reserved? The only cost for claims of a table without such rules.
create or replace function "unstuck"."has_queue_rules"()
returns boolean language plpgsql stable as $$
begin
  return exists (select from "unstuck".dependencies where attachment = /*attachment*/'native')
      or exists (select from "unstuck".pauses where attachment = /*attachment*/'native')
      or exists (select from "unstuck".kept_workers where attachment = /*attachment*/'native')
      or exists (select from "unstuck".queue_limits where attachment = /*attachment*/'native')
      -- In the order of "jobs_grouped": without statistics it would read all waiting jobs to find none.
      or (select job."id" from "unstuck"."jobs" job
           where job."status" = /*waiting*/'waiting' and job."group_key" is not null
           order by coalesce(job."queue", job."type"), job."priority", job."group_key" limit 1) is not null;
end
$$;
