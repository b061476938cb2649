-- Dead letters by cause, largest group first. Reads the 10,000 newest: is_complete says whether that was all. p_owner
-- restricts the call to jobs of that owner. state is the triage state of the cause; back_since is the first death
-- after it was marked resolved.
create or replace function "unstuck"."group_dead_jobs"(p_limit int default 100, p_owner text default null)
returns table (cause_id text, code text, category text, jobs int, first_at timestamptz, last_at timestamptz,
               example_reason text, example_id text, max_crashes int, is_complete boolean, state text,
               changed_at timestamptz, changed_by text, state_reason text, back_since timestamptz)
language plpgsql stable as $$
declare
  v_scanned /*id*/uuid[] := "unstuck"."scan_jobs"('dead', null, 10001);
begin
  perform "unstuck".require(p_limit between 1 and 1000, 'limit', p_limit::text, 'a whole number from 1 to 1000');
  return query
  with dead as materialized (
    select job."id" as id, job."error_code"::text as code, job."error_reason"::text as reason,
           job."error_category"::text as category, coalesce(job."crashes", 0)::int as crashes,
           coalesce(job."finished_at", job."updated_at", job."created_at") as ended_at,
           "unstuck".cause_id(job."error_code", job."error_reason") as cause
      from "unstuck"."jobs" job
     where job."id" = any (v_scanned[:10000]) and job."status" = /*dead*/'dead' and (
             /*tells_cancelled*/(true) or job."error_code"::text is distinct from 'cancelled')
       and (p_owner is null or job."owner"::text = p_owner)
  )
  select dead.cause, min(dead.code), (array_agg(dead.category order by dead.id desc))[1], count(*)::int,
         min(dead.ended_at), max(dead.ended_at), (array_agg(dead.reason order by dead.id desc))[1],
         (array_agg(dead.id order by dead.id desc))[1]::text, max(dead.crashes), cardinality(v_scanned) <= 10000,
         coalesce(marked.state, 'new'), marked.changed_at, marked.changed_by, marked.reason,
         min(dead.ended_at) filter (where marked.state = 'resolved' and dead.ended_at > marked.changed_at)
    from dead
    left join "unstuck".causes marked on marked.attachment = /*attachment*/'native' and marked.cause_id = dead.cause
   group by dead.cause, marked.attachment, marked.cause_id
   order by count(*) desc, dead.cause limit p_limit;
end
$$;
