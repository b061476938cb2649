-- Private: the workers with a free slot that hints reach, by the queues they claim from: an array of
-- { queues, worker_ids }. As of their last reports, so it may be off by an interval.
create or replace function "unstuck".hinted_workers(p_attachment text)
returns jsonb language sql stable set search_path = pg_catalog, pg_temp as $$
  select coalesce(jsonb_agg(jsonb_build_object('queues', hinted_queues, 'worker_ids', worker_ids)), '[]')
    from (select hinted_queues, array_agg(worker_id) as worker_ids
            from "unstuck".workers
           where attachment = p_attachment and hinted_queues is not null and running < concurrency
             and stopped_at is null and draining_at is null and absent_at is null
             and seen_at >= "unstuck".after_ms(now(), -3 * report_ms)
           group by hinted_queues) alike
$$;
