-- Private: applies an operation to these jobs and returns their outcomes, except for jobs that another transaction has
-- locked. Waiting for one would hold up the others, whose heartbeats skip locked rows.
create or replace function "unstuck"."change_jobs"(p_operation "unstuck".operations, p_ids /*id*/uuid[])
returns setof "unstuck".job_outcome language plpgsql as $$
declare
  v_locked /*id*/uuid[];
  v_untouched /*id*/uuid[];
  v_ids /*id*/uuid[];
begin
  -- Locked before the check, so that nothing changes until the write, and as strongly as the verb will lock: two
  -- transactions that upgrade their locks would deadlock.
  if p_operation.action = 'discard' then
    v_locked := array(select job."id" from "unstuck"."jobs" job where job."id" = any (p_ids)
                       order by job."id" for update of job skip locked);
  else
    v_locked := array(select job."id" from "unstuck"."jobs" job where job."id" = any (p_ids)
                       order by job."id" for no key update of job skip locked);
  end if;
  v_untouched := "unstuck"."untouched_jobs"(p_operation.action, p_operation.as_of, v_locked);
  v_ids := array(select asked.id from pg_catalog.unnest(p_ids) with ordinality asked(id, ordinal)
                  where asked.id = any (v_untouched)
                     or not exists (select from "unstuck"."jobs" job where job."id" = asked.id)
                  order by asked.ordinal);
  return query select locked.id::text, 'changed-since', null::float8 from pg_catalog.unnest(v_locked) locked(id)
                where locked.id <> all (v_ids);
  if cardinality(v_ids) = 0 then
    return;
  end if;
  if p_operation.action = 'run-now' then
    return query select * from "unstuck"."run_jobs_now"(
      p_ids => v_ids, p_owner => p_operation.owner, p_actor => p_operation.actor, p_reason => p_operation.reason);
  elsif p_operation.action = 'cancel' then
    return query select * from "unstuck"."cancel_jobs"(
      p_ids => v_ids, p_owner => p_operation.owner, p_actor => p_operation.actor, p_reason => p_operation.reason);
  elsif p_operation.action = 'discard' then
    return query select * from "unstuck"."discard_jobs"(
      p_ids => v_ids, p_owner => p_operation.owner, p_actor => p_operation.actor, p_reason => p_operation.reason);
  else
    return query select * from "unstuck"."retry_jobs"(
      p_ids => v_ids, p_owner => p_operation.owner, p_keep_attempts => p_operation.keep_attempts,
      p_actor => p_operation.actor, p_reason => p_operation.reason);
  end if;
end
$$;
