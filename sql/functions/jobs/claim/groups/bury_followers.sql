-- Private: ends what follows the heads of groups in order that the claim has just ended: the next jobs by id, as long
-- as they have expired or have no budget either. A turn meets one head of each group, so thousands of expired jobs
-- would hold the group up for as many turns. Returns their number; NULL if the queue has no order, where a job that is
-- not ended holds nothing up. At most a thousand at a time.
create or replace function "unstuck"."bury_followers"(
  p_queue text, p_heads /*id*/uuid[], p_policy "unstuck".policies)
returns int language plpgsql set enable_seqscan = off as $$
declare
  v_next /*id*/uuid[];
  v_spent /*id*/uuid[];
begin
  if not exists (select from "unstuck".queue_limits known
                  where known.attachment = /*attachment*/'native' and known.queue = p_queue
                    and known.group_order is not null) then
    return null;
  end if;
  select array_agg(next.id) into v_next
    from "unstuck"."jobs" head, lateral (
      select waiting.id, bool_and(waiting.is_spent) over (order by waiting.id) as is_spent
        from (select job."id" as id, "unstuck"."chance_of"(
                       p_policy, job."attempt", job."failures", job."crashes", job."timeouts", job."max_attempts",
                       job."expires_at") is not distinct from 'spent' as is_spent
                from "unstuck"."jobs" job
               where job."status" in /*unfinished_words*/('waiting', 'running')
                 and job."status" = (select /*waiting*/'waiting') and coalesce(job."queue", job."type")::text = p_queue
                 and job."group_key" is not null and job."group_key"::text = head."group_key"::text
               order by job."id" limit greatest(1, 1000 / cardinality(p_heads))) waiting) next
   where head."id" = any (p_heads) and head."group_key" is not null and next.is_spent;
  select array_agg(spent.id) into v_spent
    from (select job."id" as id from "unstuck"."jobs" job
           where job."id" = any (v_next) and job."status" is not distinct from /*waiting*/'waiting'
             and "unstuck"."chance_of"(p_policy, job."attempt", job."failures", job."crashes", job."timeouts",
                                       job."max_attempts", job."expires_at") = 'spent'
           order by job."id" for no key update of job skip locked) spent;
  perform "unstuck"."bury_spent"(v_spent, p_policy) where v_spent is not null;
  return coalesce(cardinality(v_spent), 0);
end
$$;
