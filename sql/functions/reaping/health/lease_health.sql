-- Every running job with its lease: healthy, stale once it has expired, or unjudged if no rule covers the row. Views
-- may be built on it.
create or replace function "unstuck"."lease_health"()
returns table (id /*id*/uuid, stage text, lease_ms bigint, ended_at timestamptz, health text)
language sql stable as $$
  select running.id, running.stage, case when running.ended_at is not null then running.lease_ms end, running.ended_at,
         case when running.ended_at is null then 'unjudged' when running.ended_at < now() then 'stale'
              else 'healthy' end
    from "unstuck"."running_jobs"("unstuck".policy_of(/*attachment*/'native')) running
$$;
