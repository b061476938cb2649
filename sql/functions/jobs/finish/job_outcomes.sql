-- Private: the outcomes of a finishing verb in the order asked, from a later plain read. The lease decides, not the id
-- alone: a worker may hold a stale and a current lease of one job. p_deleted: jobs that the verb deleted, and their
-- leases; they are among p_finished, too.
create or replace function "unstuck"."job_outcomes"(
  p_ids /*id*/uuid[], p_lease_ids uuid[], p_finished /*id*/uuid[], p_outcome text,
  p_deleted /*id*/uuid[] default null, p_deleted_lease_ids uuid[] default null)
returns setof "unstuck".job_outcome language plpgsql as $$
begin
  if cardinality(p_finished) = cardinality(p_ids) then
    return query select id::text, p_outcome, null::float8 from pg_catalog.unnest(p_ids) id;
    return;
  end if;
  return query
  select asked.id::text,
         case when (asked.id, asked.lease_id) in (select * from unnest(p_deleted, p_deleted_lease_ids)) then p_outcome
              when job."id" is null then 'not-found'
              when job."finished_lease_id" is distinct from asked.lease_id then 'lease-lost'
              -- A job that this lease released or failed may be running elsewhere: that is no completion.
              when p_outcome = 'completed' and job."status" is distinct from /*succeeded*/'succeeded' then 'lease-lost'
              when finished.id is not null then p_outcome
              else 'already-done' end,
         null::float8
    from unnest(p_ids, p_lease_ids) with ordinality asked(id, lease_id, ordinal)
    left join pg_catalog.unnest(p_finished) finished(id) on finished.id = asked.id
    left join "unstuck"."jobs" job on job."id" = asked.id
   order by asked.ordinal;
end
$$;
