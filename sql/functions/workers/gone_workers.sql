-- Private: workers of a table that are gone and may still hold jobs, as of the last look.
create or replace function "unstuck".gone_workers(p_attachment text)
returns table (worker_id text, presence_key int, vanished_at timestamptz)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_epoch text := "unstuck".presence_epoch();
begin
  return query
  select worker.worker_id, worker.presence_key, worker.vanished_at from "unstuck".workers worker
   where worker.attachment = p_attachment and worker.presence_key is not null and worker.stopped_at is null
     and worker.presence_epoch = v_epoch
     and "unstuck".is_gone(worker.vanished_at, worker.absent_at, worker.seen_at, worker.presence_grace_ms);
end
$$;

-- Private: reserves the judgement of gone workers: the caller alone takes their jobs back, and a worker that returns
-- waits for its transaction. An object of worker ids, each with the first look without its lock; NULL for none.
create or replace function "unstuck".lock_gone_workers(p_attachment text)
returns jsonb language sql set search_path = pg_catalog, pg_temp as $$
  with gone as materialized (select * from "unstuck".gone_workers(p_attachment))
  select jsonb_object_agg(worker_id, vanished_at) from gone
   where pg_try_advisory_xact_lock("unstuck".lock_class('presence'), presence_key)
$$;

-- Private: ends the judgement of gone workers that hold no job any more.
create or replace function "unstuck"."forget_gone_workers"(p_gone jsonb)
returns boolean language plpgsql as $$
begin
  update "unstuck".workers worker set presence_key = null
   where worker.attachment = /*attachment*/'native' and p_gone ? worker.worker_id
     and not exists (select from "unstuck"."jobs" job
                      where job."status" in /*running_words*/('running') and job."worker_id"::text = worker.worker_id);
  return found;
end
$$;

-- Private: the longest grace of workers that were absent at the last look and are not gone yet; NULL for none, and if
-- presence is off.
create or replace function "unstuck".absent_grace_ms(p_attachment text)
returns float8 language sql stable set search_path = pg_catalog, pg_temp as $$
  select max(presence_grace_ms) from "unstuck".workers
   where attachment = p_attachment and presence_key is not null and absent_at is not null
     and exists (select from "unstuck".policies policy
                  where policy.attachment = p_attachment and policy.presence <> 'off')
     and not "unstuck".is_gone(vanished_at, absent_at, seen_at, presence_grace_ms)
$$;
