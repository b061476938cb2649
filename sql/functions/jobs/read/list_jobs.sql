-- A page of jobs, the newest first. It looks at 10,000 rows at most, so that a rare filter costs a short step too: a
-- page may have fewer jobs than p_limit, or none, and still a next. Goes on with p_before = next, until that is null.
create or replace function "unstuck"."list_jobs"(
  p_filter jsonb default '{}', p_limit int default 100, p_before /*id*/uuid default null,
  p_with_payload boolean default false)
returns jsonb language plpgsql stable as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native');
  v_status text := p_filter ->> 'status';
  v_step int;
  v_walked /*id*/uuid[];
  v_fitting /*id*/uuid[];
  v_jobs jsonb;
begin
  perform "unstuck".require_job_filter(p_filter);
  perform "unstuck".require(p_limit between 1 and 1000, 'limit', p_limit::text, 'a whole number from 1 to 1000');
  perform "unstuck".require(p_with_payload is not null, 'with_payload', null, 'true or false');
  -- Where everything that is walked fits, no more than the page is.
  v_step := case when p_filter - 'status'::text = '{}' and (
                   coalesce(v_status, 'any') in ('any', 'waiting', 'running')
                   or v_status = 'dead' and /*tells_cancelled*/(true)) then p_limit
                 else 10000 end;
  -- Only what runs can be past its lease.
  v_walked := "unstuck"."scan_jobs"(case when (p_filter ->> 'is_overdue')::boolean then 'running' else v_status end,
                                    p_before, v_step);
  v_fitting := "unstuck"."matching_jobs"(v_policy, p_filter, v_walked, p_limit);
  v_jobs := (select jsonb_agg("unstuck"."job_summary"(fitting.id, p_with_payload) order by fitting.ordinal)
               from pg_catalog.unnest(v_fitting) with ordinality fitting(id, ordinal));
  return jsonb_build_object('jobs', coalesce(v_jobs, '[]'),
                            'next', coalesce(v_fitting[p_limit], v_walked[v_step])::text);
end
$$;
