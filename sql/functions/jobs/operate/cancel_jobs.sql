-- Ends waiting jobs at once. A running job learns of it with its next heartbeat, which a hint asks its worker for, and
-- keeps its lease until it ends. Ended jobs stay as they are. p_owner restricts the call to jobs of that owner. The
-- generation is compared under the lock.
create or replace function "unstuck"."cancel_jobs"(
  p_ids /*id*/uuid[], p_owner text default null, p_actor text default null, p_reason text default null,
  p_generation int default null)
returns setof "unstuck".job_outcome language plpgsql set enable_seqscan = off as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native');
  v_now timestamptz := clock_timestamp();
  v_lease_ids uuid[]; v_queues text[]; v_groups text[];
  v_events "unstuck".new_event[];
  v_outcomes "unstuck".job_outcome[];
begin
  perform "unstuck".require_list(p_ids, 'ids', 'ids of jobs');
  perform "unstuck".require_acting(/*attachment*/'native');
  /*+without_cancel
  -- A running job would never learn of it. Locked, as below: it must not start meanwhile.
  perform "unstuck".refuse_feature(/*attachment*/'native', 'cancel')
     from (select job."status" in /*running_words*/('running') as is_running from "unstuck"."jobs" job
            where job."id" = any (p_ids) and (p_owner is null or job."owner"::text = p_owner)
            order by job."id" for no key update of job) found
    where found.is_running;
  */
  with found as materialized (
    select job."id" as id, job."status" = /*waiting*/'waiting' as is_waiting,
           job."status" in /*running_words*/('running') as is_running,
           p_generation is null or coalesce(job."generation", 1) = p_generation as is_current
      from "unstuck"."jobs" job
     where job."id" = any (p_ids) and (p_owner is null or job."owner"::text = p_owner)
     order by job."id"
       for no key update of job
  ), cancelled as (
    update "unstuck"."jobs" job
       set "status" = case when found.is_waiting then /*cancelled*/'cancelled' else job."status" end,
           "finished_at" = case when found.is_waiting then v_now end,
           "run_at" = null,
           "updated_at" = v_now,
           "error_code" = case when found.is_waiting then 'cancelled' else job."error_code" end,
           "error_reason" = case when found.is_waiting then coalesce(p_reason, 'cancelled') else job."error_reason" end,
           "cancel_requested_at" = coalesce(job."cancel_requested_at", v_now)
      from found
     where job."id" = found.id and found.is_current and (found.is_waiting or found.is_running)
    returning job."id" as id, found.is_waiting, job."lease_id" as lease_id,
              coalesce(job."queue", job."type")::text as queue, job."group_key"::text as group_key
  )
  select array(select row(id::text, case when is_waiting then 'cancelled' else 'cancel-requested' end,
                          jsonb_build_object('actor', p_actor, 'reason', p_reason))::"unstuck".new_event
                 from cancelled),
         array(select row(asked.id::text,
                          case when found.id is null then 'not-found'
                               when not found.is_current then 'generation-changed'
                               when found.is_waiting then 'cancelled'
                               when found.is_running then 'cancel-requested'
                               else 'already-ended' end, null)::"unstuck".job_outcome
                 from pg_catalog.unnest(p_ids) with ordinality asked(id, ordinal)
                 left join found on found.id = asked.id
                order by asked.ordinal),
         array(select lease_id from cancelled where not is_waiting),
         array(select queue from cancelled where is_waiting and group_key is not null order by id),
         array(select group_key from cancelled where is_waiting and group_key is not null order by id)
    into v_events, v_outcomes, v_lease_ids, v_queues, v_groups;
  perform "unstuck"."record_events"(v_now, v_events);
  if cardinality(v_lease_ids) > 0 then
    perform "unstuck".send_cancel_hint(v_policy, v_lease_ids);
  end if;
  perform "unstuck".hint_next_in_groups(v_policy, v_queues, v_groups);
  return query select * from pg_catalog.unnest(v_outcomes);
end
$$;
