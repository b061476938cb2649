-- Private: how many live workers there are for a type of job, and how busy they are. NULL where no worker ever told
-- of itself.
create or replace function "unstuck".worker_facts(p_attachment text, p_type text)
returns jsonb language sql stable set search_path = pg_catalog, pg_temp as $$
  select jsonb_build_object('workers', case when count(*) > 0 then jsonb_build_object(
           'live', count(*) filter (where is_live),
           'handling', count(*) filter (where is_live and handles),
           'slots', coalesce(sum(concurrency) filter (where is_live and handles), 0),
           'busy', coalesce(sum(running) filter (where is_live and handles), 0),
           'last_seen_ms', "unstuck".ms_between(max(seen_at) filter (where handles), now())) end)
    from (select concurrency, running, seen_at, p_type = any (types) as handles,
                 stopped_at is null and draining_at is null
                   and seen_at >= "unstuck".after_ms(now(), -3 * report_ms) as is_live
            from "unstuck".workers where attachment = p_attachment) worker
$$;
