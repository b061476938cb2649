-- Dead letters by cause, largest group first. Reads the 10,000 newest: is_complete says whether that was all. p_owner
-- restricts the call to jobs of that owner. state is the triage state of the cause; back_since is the first death
-- after it was marked resolved.
create or replace function "unstuck"."group_dead_jobs"(p_limit int default 100, p_owner text default null)
returns table (cause_id text, code text, category text, jobs int, first_at timestamptz, last_at timestamptz,
               example_reason text, example_id text, max_crashes int, is_complete boolean, state text,
               changed_at timestamptz, changed_by text, state_reason text, back_since timestamptz)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  perform "unstuck".require(p_limit between 1 and 1000, 'limit', p_limit::text, 'a whole number from 1 to 1000');
  return query
  with scanned as materialized (
    select job."id" as id, job."error_code"::text as code, job."error_reason"::text as reason,
           job."error_category"::text as category, coalesce(job."crashes", 0)::int as crashes,
           coalesce(job."finished_at", job."updated_at", job."created_at") as ended_at, job."owner"::text as owner
      from "unstuck"."jobs" job
     where job."status" = /*dead*/'dead'
     order by job."id" desc limit 10001
  ), dead as materialized (
    select newest.* from (select * from scanned limit 10000) newest
     where (/*tells_cancelled*/(true) or newest.code is distinct from 'cancelled')
       and (p_owner is null or newest.owner = p_owner)
  ), cause as materialized (
    -- Most jobs of a cause have the same text, and the hash costs more than the rest.
    select error.code, error.reason, hashed.id, marked.state, marked.changed_at, marked.changed_by,
           marked.reason as state_reason
      from (select distinct coalesce(dead.code, '') as code, coalesce(dead.reason, '') as reason from dead) error
     cross join lateral (select "unstuck".cause_id(error.code, error.reason) as id) hashed
      left join "unstuck".causes marked on marked.attachment = /*attachment*/'native' and marked.cause_id = hashed.id
  )
  select cause.id, min(dead.code), (array_agg(dead.category order by dead.id desc))[1], count(*)::int,
         min(dead.ended_at), max(dead.ended_at), (array_agg(dead.reason order by dead.id desc))[1],
         (array_agg(dead.id order by dead.id desc))[1]::text, max(dead.crashes),
         (select count(*) <= 10000 from scanned),
         coalesce(cause.state, 'new'), cause.changed_at, cause.changed_by, cause.state_reason,
         min(dead.ended_at) filter (where cause.state = 'resolved' and dead.ended_at > cause.changed_at)
    from dead
    join cause on cause.code = coalesce(dead.code, '') and cause.reason = coalesce(dead.reason, '')
   group by cause.id, cause.state, cause.changed_at, cause.changed_by, cause.state_reason
   order by count(*) desc, cause.id limit p_limit;
end
$$;
