-- Processes the next p_limit jobs of an operation and records their outcomes in one transaction: a crash undoes the
-- whole step, and no job is changed twice. Renews the lease; p_limit 0 does only that, and checks on the jobs that a
-- redrive requeued. Jobs in p_source_gone are refused as source-gone. Jobs locked by others are left to a later step.
-- Returns NULL if the lease was lost.
create or replace function "unstuck"."step_operation"(
  p_id uuid, p_lease_id uuid, p_limit int, p_phase text default null, p_lease_ms bigint default 30000,
  p_source_gone text[] default '{}')
returns jsonb language plpgsql set enable_seqscan = off as $$
declare
  v_operation "unstuck".operations;
  v_positions int[];
  v_ids /*id*/uuid[];
  v_done int := 0;
  v_changed int := 0;
  v_sample int;
  v_outcomes "unstuck".job_outcome[];
  v_now timestamptz;
  v_lease_ends_at timestamptz;
begin
  perform "unstuck".require(p_limit between 0 and 1000, 'limit', p_limit::text, 'a whole number from 0 to 1000');
  perform "unstuck".require(coalesce(p_phase, 'rest') in ('canary', 'rest'), 'phase', p_phase, 'canary or rest');
  perform "unstuck".require(p_lease_ms between 1 and 31536000000, 'lease_ms', p_lease_ms::text,
                            'milliseconds from 1 to one year');
  -- Operations are locked before jobs: nobody who holds a job waits for an operation.
  select * into v_operation from "unstuck".operations operation
   where operation.id = p_id and operation.attachment = /*attachment*/'native' and operation.lease_id = p_lease_id
     and operation.state = 'running'
     for no key update;
  if not found then
    return null;
  end if;
  select coalesce(array_agg(next.position order by next.position), '{}'),
         coalesce(array_agg(next.job_id::/*id*/uuid order by next.position), '{}')
    into v_positions, v_ids
    from (select each.position, each.job_id from "unstuck".operation_jobs each
           where each.operation_id = p_id and each.outcome is null
           order by each.position limit p_limit) next;
  if cardinality(v_ids) > 0 then
    v_outcomes := array(
      select changed from "unstuck"."change_jobs"(v_operation, array(
        select each.id from pg_catalog.unnest(v_ids) each(id) where each.id::text <> all (p_source_gone))) changed
      union all
      select row(each.id::text, 'source-gone', null::float8)::"unstuck".job_outcome
        from pg_catalog.unnest(v_ids) each(id) where each.id::text = any (p_source_gone));
    with recorded as (
      update "unstuck".operation_jobs each set outcome = changed.outcome
        from pg_catalog.unnest(v_outcomes) changed
        join unnest(v_ids, v_positions) asked(id, position) on asked.id::text = changed.id
       where each.operation_id = p_id and each.position = asked.position
      returning each.outcome
    )
    select count(*), count(*) filter (
             where recorded.outcome in ('retried', 'due', 'cancelled', 'cancel-requested', 'discarded'))
      into v_done, v_changed from recorded;
  end if;
  select sample, succeeded, failed into v_sample, v_operation.succeeded, v_operation.failed
    from "unstuck"."watch_operation"(v_operation);
  v_now := clock_timestamp();
  v_lease_ends_at := "unstuck".after_ms(v_now, p_lease_ms);
  update "unstuck".operations operation
     set changed = operation.changed + v_changed,
         refused = operation.refused + v_done - v_changed,
         succeeded = v_operation.succeeded, failed = v_operation.failed,
         phase = coalesce(p_phase, operation.phase),
         phase_at = case when coalesce(p_phase, operation.phase) is distinct from operation.phase
                         then v_now else operation.phase_at end,
         lease_expires_at = v_lease_ends_at
   where operation.id = p_id
  returning * into v_operation;
  return jsonb_build_object('sample', v_sample, 'operation', "unstuck".operation_record(v_operation));
end
$$;
