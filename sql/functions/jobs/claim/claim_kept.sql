-- Private: what a claim gives a worker that is kept for one job: that job once nothing else runs there, else nothing.
create or replace function "unstuck"."claim_kept"(
  p_worker_id text, p_queues text[], p_types text[], p_lease_ms bigint, p_policy jsonb)
returns setof "unstuck".claimed_job language plpgsql as $$
declare
  v_id /*id*/uuid := "unstuck"."kept_job"(p_worker_id);
begin
  if exists (select from "unstuck"."jobs" job
              where job."id" = v_id and coalesce(job."queue", job."type")::text = any (p_queues)
                and (p_types is null or job."type"::text = any (p_types))) then
    return query select * from "unstuck"."claim_job"(v_id, p_worker_id, p_lease_ms, p_policy);
  end if;
end
$$;
