-- Private: the fields of new jobs by position, from what they share and what is their own: see enqueue_batch. Inlined,
-- so that a caller computes only the fields it reads, and those that all jobs share once.
create or replace function "unstuck".new_jobs(
  p_shared jsonb, p_payloads jsonb, p_jobs jsonb, p_now timestamptz, p_max_attempts int)
returns table (
  place int, type text, queue text, payload jsonb, priority int, owner text, dedupe_key text, run_at timestamptz,
  stage text, expected_duration_ms int, max_attempts int, traceparent text, backoff_steps_ms bigint[],
  expires_at timestamptz, dedupe_for_ms float8, dedupe_replace boolean, group_key text)
language sql stable
begin atomic
  select asked.place::int, coalesce(asked.job ->> 'type', shared.type), coalesce(asked.job ->> 'queue', shared.queue),
         coalesce(asked.payload, asked.job -> 'payload', '{}'),
         coalesce((asked.job ->> 'priority')::numeric::int, shared.priority),
         coalesce(asked.job ->> 'owner', shared.owner), coalesce(asked.job ->> 'dedupe_key', shared.dedupe_key),
         coalesce("unstuck".due_at(asked.job, p_now), shared.run_at), coalesce(asked.job ->> 'stage', shared.stage),
         coalesce((asked.job ->> 'expected_duration_ms')::numeric::int, shared.expected_duration_ms),
         coalesce((asked.job ->> 'max_attempts')::numeric::int, shared.max_attempts),
         coalesce(asked.job ->> 'traceparent', shared.traceparent),
         coalesce("unstuck".steps_of(asked.job), shared.backoff_steps_ms),
         coalesce("unstuck".expiry_of(asked.job, p_now), shared.expires_at),
         coalesce((asked.job ->> 'dedupe_for_ms')::float8, shared.dedupe_for_ms),
         coalesce((asked.job ->> 'dedupe_replace')::boolean, shared.dedupe_replace, false),
         coalesce(asked.job ->> 'group', shared.group_key)
    from (select p_shared ->> 'type' as type, p_shared ->> 'queue' as queue,
                 coalesce((p_shared ->> 'priority')::numeric::int, 0) as priority, p_shared ->> 'owner' as owner,
                 p_shared ->> 'dedupe_key' as dedupe_key, "unstuck".due_at(p_shared, p_now) as run_at,
                 p_shared ->> 'stage' as stage,
                 (p_shared ->> 'expected_duration_ms')::numeric::int as expected_duration_ms,
                 coalesce((p_shared ->> 'max_attempts')::numeric::int, p_max_attempts) as max_attempts,
                 p_shared ->> 'traceparent' as traceparent, "unstuck".steps_of(p_shared) as backoff_steps_ms,
                 "unstuck".expiry_of(p_shared, p_now) as expires_at,
                 (p_shared ->> 'dedupe_for_ms')::float8 as dedupe_for_ms,
                 (p_shared ->> 'dedupe_replace')::boolean as dedupe_replace, p_shared ->> 'group' as group_key
          -- Computed once.
          offset 0) shared,
         rows from (jsonb_array_elements(p_payloads), jsonb_array_elements(p_jobs))
           with ordinality asked(payload, job, place);
end;

-- Private: the earliest run of a new job; NULL for at once. A time in the past is now: no job has waited for longer
-- than it exists. Stable, so that it is inlined.
create or replace function "unstuck".due_at(p_job jsonb, p_now timestamptz)
returns timestamptz language sql stable
return case when p_job ->> 'run_at' is not null then greatest((p_job ->> 'run_at')::timestamptz, p_now)
            -- Rounded, because float8 refuses numbers that are nearly 0.
            else "unstuck".after_ms(p_now, round((p_job ->> 'delay_ms')::numeric, 3)::float8) end;

-- Private: the time after which a new job is not started; NULL for none. Computed like due_at.
create or replace function "unstuck".expiry_of(p_job jsonb, p_now timestamptz)
returns timestamptz language sql stable
return case when p_job ->> 'expires_at' is not null then greatest((p_job ->> 'expires_at')::timestamptz, p_now)
            else "unstuck".after_ms(p_now, round((p_job ->> 'ttl_ms')::numeric, 3)::float8) end;

-- Private: the waits that a new job or a failure brings, as an array; NULL for none. Stable, as the cast is:
-- declared immutable it was not inlined, and took 2 µs a job.
create or replace function "unstuck".steps_of(p_from jsonb)
returns bigint[] language sql stable
return translate(nullif(p_from -> 'backoff_steps_ms', 'null')::text, '[]', '{}')::bigint[];
