-- Private: the answers of a finishing verb in the order asked, told from a later plain read. The lease decides and not
-- the id alone: a worker may hold a stale and a current lease of one job.
create or replace function "unstuck"."job_outcomes"(
  p_ids /*id*/uuid[], p_lease_ids uuid[], p_settled /*id*/uuid[], p_outcome text)
returns setof "unstuck".job_outcome language plpgsql as $$
begin
  if cardinality(p_settled) = cardinality(p_ids) then
    return query select id::text, p_outcome, null::float8 from pg_catalog.unnest(p_ids) id;
    return;
  end if;
  return query
  select asked.id::text,
         case when job."id" is null then 'not-found'
              when job."finished_lease_id" is distinct from asked.lease_id then 'lease-lost'
              -- What a lease released or failed may run elsewhere by now: that is no completion.
              when p_outcome = 'completed' and job."status" is distinct from /*succeeded*/'succeeded' then 'lease-lost'
              when settled.id is not null then p_outcome
              else 'already-done' end,
         null::float8
    from unnest(p_ids, p_lease_ids) with ordinality asked(id, lease_id, ordinal)
    left join pg_catalog.unnest(p_settled) settled(id) on settled.id = asked.id
    left join "unstuck"."jobs" job on job."id" = asked.id
   order by asked.ordinal;
end
$$;
