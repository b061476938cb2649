-- Private: the ids among p_ids that match a checked filter, newest first, p_limit at most.
create or replace function "unstuck"."matching_jobs"(
  p_policy "unstuck".policies, p_filter jsonb, p_ids /*id*/uuid[], p_limit int)
returns /*id*/uuid[] language plpgsql stable set enable_seqscan = off as $$
declare
  v_status text := p_filter ->> 'status';
  v_overdue /*id*/uuid[];
begin
  if p_filter ? 'is_overdue' then
    v_overdue := array(select running.id from "unstuck"."running_jobs"(p_policy) running
                        where running.id = any (p_ids) and running.ended_at < now());
  end if;
  return array(
    select job."id" from "unstuck"."jobs" job
     where job."id" = any (p_ids)
       and case v_status
             when 'waiting' then job."status" = /*waiting*/'waiting'
             when 'running' then job."status" in /*running_words*/('running')
             when 'succeeded' then job."status" = /*succeeded*/'succeeded'
             when 'dead' then job."status" = /*dead*/'dead' and (
               /*tells_cancelled*/(true) or job."error_code"::text is distinct from 'cancelled')
             when 'cancelled' then job."status" = /*cancelled*/'cancelled' and (
               /*tells_cancelled*/(true) or job."error_code"::text = 'cancelled')
             else true end
       and (not p_filter ? 'type' or job."type"::text = p_filter ->> 'type')
       and (not p_filter ? 'queue' or coalesce(job."queue", job."type")::text = p_filter ->> 'queue')
       and (not p_filter ? 'owner' or job."owner"::text = p_filter ->> 'owner')
       and (not p_filter ? 'worker_id' or job."status" in /*running_words*/('running')
            and job."worker_id"::text = p_filter ->> 'worker_id')
       and (not p_filter ? 'stage'
            or coalesce(job."stage", p_policy.default_stage, job."type") = p_filter ->> 'stage')
       and (not p_filter ? 'error_code' or job."error_code"::text = p_filter ->> 'error_code')
       and (not p_filter ? 'cause_id' or job."status" = /*dead*/'dead'
            and "unstuck".cause_id(job."error_code", job."error_reason") = p_filter ->> 'cause_id')
       and (v_overdue is null or (job."id" = any (v_overdue)) = (p_filter ->> 'is_overdue')::boolean)
       and (not p_filter ? 'older_than_ms'
            or job."created_at" <= "unstuck".after_ms(now(), -(p_filter ->> 'older_than_ms')::float8))
       and (not p_filter ? 'younger_than_ms'
            or job."created_at" > "unstuck".after_ms(now(), -(p_filter ->> 'younger_than_ms')::float8))
     order by job."id" desc limit p_limit);
end
$$;
