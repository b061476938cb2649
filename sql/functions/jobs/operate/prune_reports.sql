-- Private: forgets workers that were not seen, and deliveries that were written, since before p_before, and
-- operations that ended a week ago: few at a time, for each takes up to 100,000 rows with it. Answers how many.
create or replace function "unstuck".prune_reports(p_attachment text, p_before timestamptz, p_limit int)
returns int language sql set search_path = pg_catalog, pg_temp as $$
  with workers as (
    delete from "unstuck".workers
     where attachment = p_attachment and worker_id = any (array(
       select old.worker_id from "unstuck".workers old
        where old.attachment = p_attachment and old.seen_at < p_before limit p_limit for update skip locked))
    returning 1
  ), deliveries as (
    delete from "unstuck".deliveries
     where attachment = p_attachment and id = any (array(
       select old.id from "unstuck".deliveries old
        where old.attachment = p_attachment and old.created_at < p_before
        order by old.created_at limit p_limit for update skip locked))
    returning 1
  ), operations as (
    delete from "unstuck".operations
     where id = any (array(
       select old.id from "unstuck".operations old
        where old.attachment = p_attachment and old.ended_at < now() - interval '7 days'
        order by old.id limit least(p_limit, 20) for update skip locked))
    returning 1
  )
  select ((select count(*) from workers) + (select count(*) from deliveries) + (select count(*) from operations))::int
$$;
