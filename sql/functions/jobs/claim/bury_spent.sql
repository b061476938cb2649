-- Private: ends waiting jobs without budget. The caller has locked them.
create or replace function "unstuck"."bury_spent"(p_ids /*id*/uuid[], p_policy "unstuck".policies)
returns setof "unstuck".reaped_job language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  return query
  with buried as (
    update "unstuck"."jobs" job
       set "status" = /*dead*/'dead', "finished_at" = v_now, "updated_at" = v_now, "run_at" = null,
           /*+last_error "last_error" = 'attempts_exhausted', */
           "error_code" = 'exhausted', "error_reason" = 'attempts_exhausted',
           "error_category" = null, "error_stack" = null, "error_attempt" = job."attempt"
     where job."id" = any (p_ids)
    returning job."id" as id, coalesce(job."stage", p_policy.default_stage, job."type")::text as stage,
              coalesce(job."attempt", 0)::int as attempt
  ), recorded as (
    select "unstuck"."record_events"(v_now, array_agg(
             row(id::text, 'failed',
                 jsonb_build_object('code', 'exhausted', 'reason', 'attempts_exhausted', 'attempt', attempt,
                                    'stage', stage))::"unstuck".new_event)) as count
      from buried
  )
  select id::text, 'dead', 'attempts_exhausted', stage, attempt, null::text, null::float8
    from buried, recorded
   where recorded.count >= 0
   order by buried.id;
end
$$;
