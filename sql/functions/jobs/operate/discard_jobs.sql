-- Deletes jobs that wait or have ended; running ones must be cancelled first. One event remains until the end of the
-- retention: who did it, and why. p_owner restricts the call to jobs of that owner. The generation is compared under
-- the lock.
create or replace function "unstuck"."discard_jobs"(
  p_ids /*id*/uuid[], p_owner text default null, p_actor text default null, p_reason text default null,
  p_generation int default null)
returns setof "unstuck".job_outcome language plpgsql set enable_seqscan = off as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native');
  v_now timestamptz := clock_timestamp();
  v_queues text[]; v_groups text[];
  v_events "unstuck".new_event[];
  v_outcomes "unstuck".job_outcome[];
begin
  perform "unstuck".require_list(p_ids, 'ids', 'ids of jobs');
  perform "unstuck".require_acting(/*attachment*/'native');
  with found as materialized (
    select job."id" as id, job."status"::text as status, job."type"::text as type, job."error_code"::text as code,
           p_generation is null or coalesce(job."generation", 1) = p_generation as is_current,
           job."status" = /*waiting*/'waiting' as is_waiting,
           job."status" = /*waiting*/'waiting'
             or job."status" in /*ended_words*/('succeeded', 'dead', 'cancelled') as is_idle
      from "unstuck"."jobs" job
     where job."id" = any (p_ids) and (p_owner is null or job."owner"::text = p_owner)
     order by job."id"
       for update of job
  ), gone as (
    delete from "unstuck"."jobs" job using found where job."id" = found.id and found.is_current and found.is_idle
    returning job."id" as id, found.status, found.type, found.code, found.is_waiting,
              coalesce(job."queue", job."type")::text as queue, job."group_key"::text as group_key
  ), forgotten as (
    delete from "unstuck".events event using gone
     where event.attachment = /*attachment*/'native' and event.job_id = gone.id::text
  ), undispatched as (
    delete from "unstuck".dispatches dispatch using gone
     where dispatch.attachment = /*attachment*/'native' and dispatch.job_id = gone.id::text
  )
  select array(select row(id::text, 'discarded', jsonb_build_object(
                            'actor', p_actor, 'reason', p_reason, 'status', status, 'type', type, 'code', code)
                         )::"unstuck".new_event
                 from gone),
         array(select row(asked.id::text,
                          case when found.id is null then 'not-found'
                               when not found.is_current then 'generation-changed'
                               when found.is_idle then 'discarded'
                               else 'running' end, null)::"unstuck".job_outcome
                 from pg_catalog.unnest(p_ids) with ordinality asked(id, ordinal)
                 left join found on found.id = asked.id
                order by asked.ordinal),
         array(select queue from gone where is_waiting and group_key is not null order by id),
         array(select group_key from gone where is_waiting and group_key is not null order by id)
    into v_events, v_outcomes, v_queues, v_groups;
  perform "unstuck"."record_events"(v_now, v_events);
  perform "unstuck".hint_next_in_groups(v_policy, v_queues, v_groups);
  return query select * from pg_catalog.unnest(v_outcomes);
end
$$;
