-- Deletes published dispatches. A dispatch rewritten since has another id and stays, as does a locked row. Returns the
-- count.
create or replace function "unstuck".finish_dispatches(p_attachment text, p_job_ids text[], p_dispatch_ids uuid[])
returns int language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_ids text[];
begin
  perform "unstuck".require_dispatches(p_job_ids, p_dispatch_ids);
  v_ids := array(select due.job_id
                   from unnest(p_job_ids, p_dispatch_ids) asked(job_id, dispatch_id), "unstuck".dispatches due
                  where due.attachment = p_attachment and due.job_id = asked.job_id
                    and due.dispatch_id = asked.dispatch_id
                    for update of due skip locked);
  delete from "unstuck".dispatches due where due.attachment = p_attachment and due.job_id = any (v_ids);
  return cardinality(v_ids);
end
$$;
