-- Whether a job of these queues is due, and neither paused nor held back by a breaker; limits of queues and groups are
-- not counted. It locks nothing and reads one index entry per queue and priority: far less than an empty claim.
create or replace function "unstuck"."has_due_jobs"(p_queues text[])
returns boolean language plpgsql stable set enable_seqscan = off as $$
declare
  v_queues text[] := p_queues;
begin
  perform "unstuck".require_list(p_queues, 'queues', 'names of queues');
  if "unstuck"."has_queue_rules"() then
    select queues into v_queues from "unstuck".open_queues(/*attachment*/'native', p_queues);
    if exists (select from pg_catalog.unnest(v_queues) queue(name)
                where "unstuck"."group_level"(queue.name, -2147483648) is not null) then
      return true;
    end if;
  end if;
  return (select priority is not null from "unstuck"."claim_level"(v_queues, -2147483648, null));
end
$$;
