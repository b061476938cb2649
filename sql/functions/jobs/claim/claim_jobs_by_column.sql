-- Private: claim_jobs as rows of up to 64 jobs with a list for each column, which a client reads in half the time of
-- one row per job (3.8 instead of 6.6 µs a job). With large payloads, all in one row would be a string too long for
-- JavaScript (512 MB). A function, because its plan is kept.
create or replace function "unstuck"."claim_jobs_by_column"(
  p_worker_id text, p_queues text[], p_limit int, p_types text[], p_lease_ms bigint, p_policy jsonb, p_actor text,
  p_cursors jsonb)
returns table (lease_id text, jobs text) language plpgsql as $$
begin
  return query
  select min(claimed.lease_id::text), json_build_object(
           'id', json_agg(id), 'fence', json_agg(fence), 'type', json_agg(type), 'queue', json_agg(queue),
           'payload', json_agg(payload), 'priority', json_agg(priority), 'stage', json_agg(stage),
           'owner', json_agg(owner), 'attempt', json_agg(attempt), 'failures', json_agg(failures),
           'crashes', json_agg(crashes), 'timeouts', json_agg(timeouts), 'max_attempts', json_agg(max_attempts),
           'generation', json_agg(generation), 'created_at', json_agg(created_at), 'started_at', json_agg(started_at),
           'expected_duration_ms', json_agg(expected_duration_ms), 'lease_ms', json_agg(lease_ms),
           'deadline_ms', json_agg(deadline_ms), 'traceparent', json_agg(traceparent),
           'is_rescue', json_agg(is_rescue), 'waited_ms', json_agg(waited_ms),
           'runs_alone', json_agg(crashes > 0 and "unstuck".is_reap_final(
             "unstuck".policy_of(/*attachment*/'native', p_policy), false, attempt, failures, crashes, timeouts,
             max_attempts)))::text
    from "unstuck"."claim_jobs"(p_worker_id, p_queues, p_limit, p_types, p_lease_ms, p_policy, p_actor, p_cursors)
           with ordinality claimed
   group by (ordinality - 1) / 64 order by (ordinality - 1) / 64;
end
$$;
