-- Private: how many jobs of one priority a claim takes from each queue, so that due time decides over all of them.
-- After the shares every queue comes once more for what is left: another claim may have locked a share away.
create or replace function "unstuck"."claim_shares"(p_queues text[], p_priority int, p_limit int)
returns table (queue text, share int) language plpgsql as $$
begin
  if cardinality(p_queues) > 1 then
    return query
    select head.queue, count(*)::int
      from (select name as queue, due.at
              from unnest(p_queues) name,
                   lateral (select coalesce(job."run_at", job."created_at") as at, job."id" as id
                              from "unstuck"."jobs" job
                             where job."status" = /*waiting*/'waiting' and coalesce(job."queue", job."type") = name
                               and job."priority" = p_priority and coalesce(job."run_at", job."created_at") <= now()
                             order by coalesce(job."run_at", job."created_at"), job."id" limit p_limit) due
             order by due.at, due.id limit p_limit) head
     group by head.queue;
  end if;
  return query select name, p_limit from unnest(p_queues) name;
end
$$;
