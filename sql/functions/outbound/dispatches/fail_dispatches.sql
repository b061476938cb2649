-- Postpones dispatches that could not be published: by 1 s, then twice as long each time, up to 5 minutes. A dispatch
-- that was rewritten or taken by another since is left alone: p_tries is the count returned by take_dispatches.
-- Returns the count.
create or replace function "unstuck".fail_dispatches(
  p_attachment text, p_job_ids text[], p_dispatch_ids uuid[], p_tries int[], p_error text)
returns int language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_ids text[];
begin
  perform "unstuck".require_dispatches(p_job_ids, p_dispatch_ids);
  perform "unstuck".require_list(p_tries, 'tries', 'the tries of a taking');
  v_ids := array(select due.job_id
                   from unnest(p_job_ids, p_dispatch_ids, p_tries) asked(job_id, dispatch_id, tries),
                        "unstuck".dispatches due
                  where due.attachment = p_attachment and due.job_id = asked.job_id
                    and due.dispatch_id = asked.dispatch_id and due.tries = asked.tries
                    for no key update of due skip locked);
  update "unstuck".dispatches due
     set next_try_at = asked.next_try_at, last_error = left(p_error, 1000)
    from (select failed.job_id, "unstuck".after_ms(
                   v_now, "unstuck".backoff_ms('{}', 1000, 300000, 0, failed.tries, 0)) as next_try_at
            from unnest(p_job_ids, p_tries) failed(job_id, tries)) asked
   where due.attachment = p_attachment and due.job_id = any (v_ids) and due.job_id = asked.job_id;
  return cardinality(v_ids);
end
$$;
