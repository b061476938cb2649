-- Private: what has become of the jobs that sweeps would have taken. Without a new sign of life they stay open, or end
-- as p_otherwise. One that somebody else's program has moved counts as come back too: nobody can tell it from a worker.
create or replace function "unstuck"."settle_observations"(p_at timestamptz, p_otherwise text default null)
returns int language plpgsql as $$
declare
  v_count int;
begin
  with looked as materialized (
    select seen.job_id, seen.lease, coalesce(now_is.outcome, p_otherwise) as outcome
      from "unstuck".observations seen
      join "unstuck"."observed_outcomes"() now_is on now_is.job_id = seen.job_id and now_is.lease = seen.lease
     where seen.attachment = /*attachment*/'native' and seen.outcome is null
       and coalesce(now_is.outcome, p_otherwise) is not null
     order by seen.job_id, seen.lease
       for update of seen skip locked
  )
  update "unstuck".observations seen set outcome = looked.outcome, outcome_at = p_at
    from looked
   where seen.attachment = /*attachment*/'native' and seen.job_id = looked.job_id and seen.lease = looked.lease;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
