-- Private: all running jobs together: the number of expired leases, the shortest and longest lease, and whether leases
-- that ended since p_since look like a mass expiry (C26). An expired lease makes its worker silent, unless the job is
-- past its deadline and so no longer renewed. Rows without a worker count as one. A worker sends at least two
-- heartbeats per lease, so a silent one has missed one after half a lease: a worker heard after that shows that the
-- database was reachable. A single silent worker is a dead one.
create or replace function "unstuck"."running_signs"(
  p_policy "unstuck".policies, p_now timestamptz, p_since timestamptz, out expired int, out shortest_ms bigint,
  out longest_ms bigint, out is_mass boolean)
language plpgsql stable as $$
begin
  select count(*) filter (where ended_at < p_now), min(lease_ms), max(lease_ms),
         coalesce(min(worker) filter (where is_silent) < max(worker) filter (where is_silent)
                  and max(seen_at) < max(missed_at) filter (where is_silent), false)
    into expired, shortest_ms, longest_ms, is_mass
    from "unstuck"."running_jobs"(p_policy),
         lateral (select coalesce(worker_id, '') as worker,
                         "unstuck".after_ms(seen_at, "unstuck".ms_between(seen_at, ended_at) / 2::float8) as missed_at,
                         ended_at < p_now and ended_at >= p_since and not is_timeout as is_silent) sign;
end
$$;

-- Private: the number of jobs that a finished sweep left behind because their rows were locked: past their lease when
-- it began, not held, and still running.
create or replace function "unstuck"."skipped_jobs"(p_cursor jsonb, p_policy "unstuck".policies)
returns int language sql stable as $$
  select count(*)::int from "unstuck"."running_jobs"(p_policy) running
   where running.ended_at < (p_cursor ->> 'began_at')::timestamptz
     and not "unstuck".is_held((p_cursor ->> 'outage_from')::timestamptz, (p_cursor ->> 'outage_to')::timestamptz,
                               running.ended_at, running.heartbeat_at, running.lease_ms)
$$;

-- Private: running rows without a lease that no rule can judge. They are reported and never touched (REAP-8).
create or replace function "unstuck"."unjudged_jobs"(p_policy "unstuck".policies, p_limit int)
returns setof "unstuck".reaped_job language sql stable as $$
  select running.id::text, 'reported', 'no_lease_to_judge_by', running.stage, coalesce(running.attempt, 0),
         running.worker_id, null::float8
    from "unstuck"."running_jobs"(p_policy) running
   where running.ended_at is null
   order by running.id limit p_limit
$$;
