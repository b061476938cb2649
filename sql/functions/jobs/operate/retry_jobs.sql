-- Requeues dead jobs with a new generation (OPS-1). The owner is part of the locking condition, and the generation is
-- compared under the lock. Counts start again, or are kept and the maximum raised so that the job can be claimed;
-- crashes and timeouts always start again, because their limit is the policy's, and an expiry is removed. The search
-- for a twin is not an EXISTS, which may be answered by one scan of the whole table.
create or replace function "unstuck"."retry_jobs"(
  p_ids /*id*/uuid[], p_owner text default null, p_generation int default null, p_keep_attempts boolean default false,
  p_actor text default null, p_reason text default null)
returns setof "unstuck".job_outcome language plpgsql set enable_seqscan = off as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native');
  v_now timestamptz := clock_timestamp();
  v_events "unstuck".new_event[];
  v_outcomes "unstuck".job_outcome[];
begin
  perform "unstuck".require_list(p_ids, 'ids', 'ids of jobs');
  perform "unstuck".require_acting(/*attachment*/'native');
  perform "unstuck".require(p_keep_attempts is not null, 'keep_attempts', p_keep_attempts::text, 'true or false');
  /*+shared_keys perform "unstuck"."hold_keys_of"(p_ids, p_owner); */
  for v_look in 1..5 loop
    begin
      with locked as materialized (
        select job."id" as id, job."type" as type, job."dedupe_key" as dedupe_key,
               job."status" = /*dead*/'dead' and job."error_code"::text is distinct from 'cancelled' as is_dead,
               p_generation is null or coalesce(job."generation", 1) = p_generation as is_current,
               (select true from "unstuck"."jobs" twin
                 where twin."type"::text = job."type"::text and twin."dedupe_key"::text = job."dedupe_key"::text
                   and twin."status" in /*unfinished_words*/('waiting', 'running') limit 1) is true as has_twin
          from "unstuck"."jobs" job
         where job."id" = any (p_ids) and (p_owner is null or job."owner"::text = p_owner)
         order by job."id" for no key update of job
      ), found as materialized (
        -- If two jobs of the call have the same key, the first is retried.
        select id, is_dead, is_current,
               has_twin or dedupe_key is not null and row_number() over (partition by type, dedupe_key, is_dead
                 and is_current order by array_position(p_ids, id)) > 1 as has_twin
          from locked
      ), retried as (
        update "unstuck"."jobs" job
           set "status" = /*waiting*/'waiting', "expires_at" = null,
               "queued_at" = v_now, "updated_at" = v_now, "run_at" = null, "finished_at" = null, "result" = null,
               "cancel_requested_at" = null, "reaped_at" = null, /*+last_error "last_error" = null, */
               "generation" = coalesce(job."generation", 1) + 1, "crashes" = 0, "timeouts" = 0, "error_code" = null,
               "error_reason" = null, "error_category" = null, "error_stack" = null, "error_attempt" = null,
               "attempt" = case when p_keep_attempts then job."attempt" else 0 end,
               "failures" = case when p_keep_attempts then job."failures" else 0 end,
               "max_attempts" = case when not p_keep_attempts then job."max_attempts" else greatest(
                 coalesce(job."max_attempts", v_policy.max_attempts),
                 1 + case when v_policy.failure_budget = 'failures' then coalesce(job."failures", 0)
                          else coalesce(job."attempt", 0) end) end
          from found
         where job."id" = found.id and found.is_dead and found.is_current and not found.has_twin
        returning job."id" as id, job."generation" as generation
      )
      select array(select row(id::text, 'queued', jsonb_build_object(
                       'cause', 'retry', 'actor', p_actor, 'reason', p_reason, 'generation', generation)
                     )::"unstuck".new_event from retried),
             array(select row(asked.id::text, case when found.id is null then 'not-found'
                                                   when not found.is_current then 'generation-changed'
                                                   when not found.is_dead then 'not-dead'
                                                   when found.has_twin then 'duplicate' else 'retried' end, null
                             )::"unstuck".job_outcome
                     from pg_catalog.unnest(p_ids) with ordinality asked(id, ordinal)
                     left join found on found.id = asked.id order by asked.ordinal)
        into v_events, v_outcomes;
      exit;
    exception when unique_violation then
      -- Another job took the key between read and write: the next read finds it.
      if v_look = 5 then raise; end if;
    end;
  end loop;
  if cardinality(v_events) > 0 then
    perform "unstuck"."record_events"(v_now, v_events);
    perform "unstuck".send_hint(v_policy);
    perform "unstuck".record_dispatches(v_policy, array(select job_id from pg_catalog.unnest(v_events)))
      where v_policy.dispatch <> 'off';
  end if;
  return query select * from pg_catalog.unnest(v_outcomes);
end
$$;
