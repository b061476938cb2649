-- Private: forgets what was done by hand before p_before, and all sweeps that found something but the newest 1000.
-- Answers how many.
create or replace function "unstuck".prune_history(p_attachment text, p_before timestamptz, p_limit int)
returns int language sql set search_path = pg_catalog, pg_temp as $$
  with acts as (
    delete from "unstuck".acts
     where id = any (array(
       select old.id from "unstuck".acts old
        where coalesce(old.attachment, p_attachment) = p_attachment and old.at < p_before
        order by old.at limit p_limit for update skip locked))
    returning 1
  ), sweeps as (
    delete from "unstuck".sweep_history
     where attachment = p_attachment and id < (
       select newest.id from "unstuck".sweep_history newest
        where newest.attachment = p_attachment order by newest.id desc offset 999 limit 1)
    returning 1
  )
  select ((select count(*) from acts) + (select count(*) from sweeps))::int
$$;
