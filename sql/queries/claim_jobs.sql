-- Times as JSON and durations as whole numbers: their text does not depend on DateStyle and extra_float_digits.
select id, lease_id::text, fence, type, queue, payload, priority, stage, owner, attempt, failures, crashes, timeouts,
       max_attempts, generation, to_json(created_at) as created_at, to_json(started_at) as started_at,
       expected_duration_ms::numeric, lease_ms::bigint, deadline_ms::bigint, traceparent, is_rescue,
       crashes > 0 and "unstuck".is_reap_final(
         "unstuck".policy_of(/*attachment*/'native', ($6::text)::jsonb), false, attempt, failures, crashes, timeouts,
         max_attempts) as runs_alone
  from "unstuck"."claim_jobs"($1::text, $2::text[], $3::int, $4::text[], $5::bigint, ($6::text)::jsonb, $7::text,
                              ($8::text)::jsonb)
