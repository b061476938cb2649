-- Private: the presence of every worker of a table, for readers. absent: its lock is missing, and its grace is not over
-- or was not watched; gone: a look found it absent for the whole grace. A standby has no locks of the primary, so the
-- last look counts there.
create or replace function "unstuck".worker_presence(p_attachment text)
returns table (worker_id text, presence text) language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  -- Before the statement on the table, which may run on another node than that of the sessions.
  v_held int[] := array(select distinct key from "unstuck".presence_locks() where not is_watch);
  v_is_standby boolean := pg_is_in_recovery();
begin
  return query
  select worker.worker_id,
         case when worker.presence <> 'direct' then worker.presence
              when worker.stopped_at is not null then 'off'
              when worker.presence_key = any (v_held) then 'present'
              when "unstuck".is_gone(worker.vanished_at, worker.absent_at, worker.seen_at, worker.presence_grace_ms)
                then 'gone'
              when worker.presence_key is null then 'off'
              when worker.absent_at is null and v_is_standby then 'present'
              else 'absent' end
    from "unstuck".workers worker
   where worker.attachment = p_attachment;
end
$$;
