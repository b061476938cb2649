-- Creates a bulk change: { action, filter, q, as_of, max_jobs, expect, actor, owner, reason, canary, rate_per_s,
-- keep_attempts, lease_ms, is_plan, count_limit }. Selects the ids once and changes nothing else: the holder of its
-- lease takes the steps. That is the caller if lease_ms is given, else the first to take it. Returns { outcome,
-- total }, and once begun the operation and its lease_id. A plan reads count_limit rows at most: at_least says that
-- more jobs may match.
create or replace function "unstuck"."begin_operation"(p_operation jsonb)
returns jsonb language plpgsql set enable_seqscan = off as $$
declare
  v_now timestamptz := clock_timestamp();
  v_asked record;
  v_as_of timestamptz;
  v_ids /*id*/uuid[] := '{}';
  v_is_cut boolean := false;
  v_is_unexpected boolean;
  v_total int;
  v_queues text[];
  v_operation "unstuck".operations;
begin
  perform "unstuck".require_operation(p_operation);
  select * into v_asked from jsonb_to_record(p_operation) asked(
    action text, filter jsonb, q text, as_of timestamptz, max_jobs int, expect int, actor text, owner text, reason text,
    canary int, rate_per_s float8, keep_attempts boolean, lease_ms bigint, is_plan boolean, count_limit int);
  /*+without_update_time
  -- Nothing else tells that somebody changed a job, and a changed one is not deleted.
  perform "unstuck".refuse_feature(/*attachment*/'native', 'times') where v_asked.action = 'discard';
  */
  if v_asked.is_plan is not true then
    perform "unstuck".require_acting(/*attachment*/'native');
  end if;
  v_as_of := least(v_asked.as_of, v_now);
  -- Jobs of another owner do not exist for the caller.
  if v_asked.owner is null or coalesce(v_asked.filter ->> 'owner', v_asked.owner) = v_asked.owner then
    select target.ids, target.is_cut into v_ids, v_is_cut from "unstuck"."target_jobs"(
      v_asked.action, v_asked.filter || jsonb_strip_nulls(jsonb_build_object('owner', v_asked.owner)), v_as_of,
      v_asked.max_jobs, case when v_asked.is_plan then coalesce(v_asked.count_limit, 100000) end) target;
  end if;
  v_total := cardinality(v_ids);
  v_is_unexpected := v_asked.expect < v_total or v_asked.expect <> v_total and not v_is_cut;
  if v_total > 100000 or v_is_unexpected or v_asked.is_plan then
    return jsonb_build_object('total', v_total, 'as_of', v_as_of, 'outcome', case
      when v_total > 100000 then 'too-many' when v_is_unexpected then 'unexpected' else 'planned' end,
      'at_least', case when v_is_cut then array['total'] else '{}' end);
  end if;
  v_queues := array(select distinct coalesce(job."queue", job."type") from "unstuck"."jobs" job
                     where job."id" = any (v_ids));
  insert into "unstuck".operations (
    id, attachment, action, q, filter, as_of, actor, owner, reason, canary, rate_per_s, keep_attempts, queues, total,
    began_at, lease_id, lease_expires_at)
  values (
    "unstuck".uuid_v7(v_now), /*attachment*/'native', v_asked.action, v_asked.q, v_asked.filter, v_as_of, v_asked.actor,
    v_asked.owner, v_asked.reason, coalesce(v_asked.canary, 0), v_asked.rate_per_s,
    coalesce(v_asked.keep_attempts, false), v_queues,
    v_total, v_now, case when v_asked.lease_ms is not null then gen_random_uuid() end,
    "unstuck".after_ms(v_now, v_asked.lease_ms))
  returning * into v_operation;
  insert into "unstuck".operation_jobs (operation_id, position, job_id)
  select v_operation.id, chosen.position, chosen.id::text
    from pg_catalog.unnest(v_ids) with ordinality chosen(id, position);
  perform "unstuck".record_audit_entry(/*attachment*/'native', 'operation-begun', v_operation.id::text, v_asked.actor,
                                       v_asked.reason, jsonb_build_object('action', v_asked.action, 'q', v_asked.q));
  return jsonb_build_object('outcome', 'begun', 'total', v_total, 'lease_id', v_operation.lease_id,
                            'operation', "unstuck".operation_record(v_operation));
end
$$;
