-- Private: a job as a list shows it: no stack, no payload and no result unless asked for, and what only the database's
-- clock can tell.
create or replace function "unstuck"."job_summary"(p_id /*id*/uuid, p_with_payload boolean)
returns jsonb language sql stable as $$
  select "unstuck"."job_record"(p_id)
         - case when p_with_payload then array['error_stack'] else array['error_stack', 'payload', 'result'] end
      || jsonb_build_object(
           'cause_id', case when job."status" = /*dead*/'dead' and (
               /*tells_cancelled*/(true) or job."error_code"::text is distinct from 'cancelled')
             then "unstuck".cause_id(job."error_code", job."error_reason") end,
           'lease_left_ms', "unstuck".ms_between(now(), job."lease_expires_at"))
    from "unstuck"."jobs" job where job."id" = p_id
$$;
