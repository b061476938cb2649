-- Inserts all jobs or none. A job whose dedupe key an unfinished job of its type has returns the id of that job
-- instead. p_jobs: an array of { type, payload, queue, priority, delay_ms, run_at, stage, expected_duration_ms,
-- max_attempts, backoff_steps_ms, expires_at, ttl_ms, owner, group, dedupe_key, dedupe_for_ms, dedupe_replace,
-- traceparent }. The effective maximum of attempts is written into the row.
create or replace function "unstuck"."enqueue_jobs"(p_jobs jsonb, p_policy jsonb default null)
returns setof "unstuck".job_outcome language plpgsql as $$
declare
  v_enqueued json;
begin
  perform "unstuck".require(jsonb_typeof(p_jobs) = 'array', 'jobs', p_jobs::text, 'an array of jobs');
  if jsonb_array_length(p_jobs) = 1 and jsonb_typeof(p_jobs -> 0) = 'object' then
    -- As a client sends it, which is cheaper.
    v_enqueued := "unstuck"."enqueue_batch"(
      (p_jobs -> 0) - 'payload'::text, jsonb_build_array(coalesce(p_jobs -> 0 -> 'payload', '{}')), null, p_policy);
  else
    v_enqueued := "unstuck"."enqueue_batch"('{}', null, p_jobs, p_policy);
  end if;
  return query
  select asked.id, coalesce(asked.outcome, 'created'), null::float8
    from rows from (json_array_elements_text(v_enqueued -> 'ids'),
                    json_array_elements_text(v_enqueued -> 'outcomes')) asked(id, outcome);
end
$$;
