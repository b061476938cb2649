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
  v_overdue /*id*/uuid[];
  v_jobs jsonb;
  v_last text;
begin
  perform "unstuck".require_job_filter(p_filter);
  perform "unstuck".require(p_limit between 1 and 1000, 'limit', p_limit::text, 'a whole number from 1 to 1000');
  perform "unstuck".require(p_with_payload is not null, 'with_payload', null, 'true or false');
  -- Where everything that is walked fits, no more than the page is.
  v_step := case when p_filter - 'status' = '{}' and (
                   coalesce(v_status, 'any') in ('any', 'waiting', 'running')
                   or v_status = 'dead' and /*dead*/'dead' <> /*cancelled*/'cancelled') then p_limit
                 else 10000 end;
  v_walked := "unstuck"."walk_jobs"(v_status, p_before, v_step);
  if p_filter ? 'is_overdue' then
    v_overdue := array(select running.id from "unstuck"."running_jobs"(v_policy) running
                        where running.ended_at < now());
  end if;
  select coalesce(jsonb_agg(listed.job order by listed.id desc), '[]'),
         (array_agg(listed.id order by listed.id desc))[p_limit]::text
    into v_jobs, v_last
    from (select job."id" as id, "unstuck"."job_summary"(job."id", p_with_payload) as job
            from "unstuck"."jobs" job
           where job."id" = any (v_walked)
             and case v_status
                   when 'waiting' then job."status" = /*waiting*/'waiting'
                   when 'running' then job."status" in /*running_words*/('running')
                   when 'succeeded' then job."status" = /*succeeded*/'succeeded'
                   when 'dead' then job."status" = /*dead*/'dead' and (
                     /*dead*/'dead' <> /*cancelled*/'cancelled' or job."error_code" is distinct from 'cancelled')
                   when 'cancelled' then job."status" = /*cancelled*/'cancelled' and (
                     /*dead*/'dead' <> /*cancelled*/'cancelled' or job."error_code" = 'cancelled')
                   else true end
             and (not p_filter ? 'type' or job."type" = p_filter ->> 'type')
             and (not p_filter ? 'queue' or coalesce(job."queue", job."type") = p_filter ->> 'queue')
             and (not p_filter ? 'owner' or job."owner"::text = p_filter ->> 'owner')
             and (not p_filter ? 'worker_id' or job."worker_id"::text = p_filter ->> 'worker_id')
             and (not p_filter ? 'stage'
                  or coalesce(job."stage", v_policy.default_stage, job."type") = p_filter ->> 'stage')
             and (not p_filter ? 'error_code' or job."error_code" = p_filter ->> 'error_code')
             and (not p_filter ? 'cause_id' or job."status" = /*dead*/'dead'
                  and "unstuck".cause_id(job."error_code", job."error_reason") = p_filter ->> 'cause_id')
             and (v_overdue is null or (job."id" = any (v_overdue)) = (p_filter ->> 'is_overdue')::boolean)
             and (not p_filter ? 'older_than_ms'
                  or job."created_at" <= "unstuck".after_ms(now(), -(p_filter ->> 'older_than_ms')::float8))
             and (not p_filter ? 'younger_than_ms'
                  or job."created_at" > "unstuck".after_ms(now(), -(p_filter ->> 'younger_than_ms')::float8))
           order by job."id" desc limit p_limit) listed;
  return jsonb_build_object('jobs', v_jobs, 'next', coalesce(v_last, v_walked[v_step]::text));
end
$$;
