-- A page of jobs, newest first. Reads 10,000 rows at most, so that a rare filter is a short step too: a page may be
-- short or empty and still have a next. Continue with p_before = next until that is null. searched_to is the creation
-- time of the job next, so a search says how far it has looked.
create or replace function "unstuck"."list_jobs"(
  p_filter jsonb default '{}', p_limit int default 100, p_before /*id*/uuid default null,
  p_with_payload boolean default false)
returns jsonb language plpgsql stable as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native');
  -- Only running jobs can be past their lease, and only they have a worker.
  v_role text := case when (p_filter ->> 'is_overdue')::boolean or p_filter ? 'worker_id' then 'running'
                      else p_filter ->> 'status' end;
  v_step int;
  v_scanned /*id*/uuid[];
  v_matching /*id*/uuid[];
  v_jobs jsonb;
  v_next /*id*/uuid;
begin
  perform "unstuck".require_job_filter(p_filter);
  perform "unstuck".require(p_limit between 1 and 1000, 'limit', p_limit::text, 'a whole number from 1 to 1000');
  perform "unstuck".require(p_with_payload is not null, 'with_payload', null, 'true or false');
  -- If every scanned job matches, scan no more than the page.
  v_step := case when p_filter - 'status'::text = '{}' and (
                   coalesce(v_role, 'any') in ('any', 'running')
                   or v_role = 'dead' and /*tells_cancelled*/(true)) then p_limit
                 else 10000 end;
  v_scanned := "unstuck"."scan_jobs"(v_role, p_before, v_step, p_filter);
  v_matching := "unstuck"."matching_jobs"(v_policy, p_filter, v_scanned, p_limit);
  v_jobs := (select jsonb_agg("unstuck"."job_summary"(matching.id, p_with_payload) order by matching.ordinal)
               from pg_catalog.unnest(v_matching) with ordinality matching(id, ordinal));
  v_next := coalesce(v_matching[p_limit], v_scanned[v_step]);
  return jsonb_build_object('jobs', coalesce(v_jobs, '[]'), 'next', v_next::text, 'searched_to',
                            (select "unstuck".iso_utc(job."created_at") from "unstuck"."jobs" job
                              where job."id" = v_next));
end
$$;
