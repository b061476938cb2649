-- Private: has another transaction locked the row of this job (C13)? The session that holds it is named where it is
-- certain: the transaction in xmax is under way, and its session has a lock on this very table. A row that several
-- transactions share has no such name. Without the right to lock there is no answer.
create or replace function "unstuck"."job_lock"(p_id /*id*/uuid)
returns jsonb language plpgsql as $$
begin
  perform from "unstuck"."jobs" job where job."id" = p_id for no key update of job skip locked;
  if found then
    return jsonb_build_object('is_locked', false);
  end if;
  return jsonb_build_object(
    'is_locked', true,
    'locked_by', (
      select jsonb_build_object('pid', holder.pid, 'application', nullif(activity.application_name, ''),
                                'state', activity.state,
                                'open_ms', "unstuck".ms_between(activity.xact_start, clock_timestamp()))
        from "unstuck"."jobs" job
        join pg_locks holder on holder.locktype = 'transactionid' and holder.granted and holder.transactionid = job.xmax
        left join pg_stat_activity activity on activity.pid = holder.pid
       where job."id" = p_id
         and exists (select from pg_locks lock where lock.locktype = 'relation' and lock.granted
                        and lock.pid = holder.pid and lock.relation = job.tableoid)
       limit 1));
exception when insufficient_privilege or read_only_sql_transaction then
  return jsonb_build_object('is_locked', null);
end
$$;
