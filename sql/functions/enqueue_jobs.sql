-- Writes all jobs or none. A job whose dedupe key an unfinished job of its type has answers that job's id instead.
-- p_jobs: an array of { type, payload, queue, priority, delay_ms, run_at, stage, expected_duration_ms, max_attempts,
-- owner, dedupe_key, traceparent }. The maximum in force is written into the row, so that it is visible there.
create or replace function "unstuck"."enqueue_jobs"(p_jobs jsonb, p_policy jsonb default null)
returns setof "unstuck".settled_job language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz := clock_timestamp();
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_problem text;
  v_wishes jsonb[];
  v_ids /*id*/uuid[];
  v_created /*id*/uuid[];
  v_is_due boolean;
  v_is_valid boolean;
begin
  v_is_valid := "unstuck".require(jsonb_typeof(p_jobs) = 'array', 'jobs', p_jobs::text, 'an array of jobs');
  -- With an offset the check is not copied into the condition, and is prepared once.
  select problem into v_problem
    from (select "unstuck".job_problem(wish) as problem from jsonb_array_elements(p_jobs) wish offset 0) checked
   where problem is not null limit 1;
  if v_problem is not null then
    raise exception using errcode = 'UN001', message = v_problem;
  end if;
  /*+partitioned
  perform "unstuck".require(not jsonb_path_exists(p_jobs, '$[*].dedupe_key ? (@ != null)'), 'dedupe_key', 'one',
                            'none in a partitioned table: nothing could keep it unique');
  */
  -- Ids a microsecond apart, so that the jobs of one call run in their order.
  select array_agg(wish order by ordinal),
         array_agg(/*new_id*/("unstuck".uuid_v7("unstuck".after_ms(v_now, ordinal / 1000.0))) order by ordinal)
    into v_wishes, v_ids
    from jsonb_array_elements(p_jobs) with ordinality asked(wish, ordinal);

  with created as (
    insert into "unstuck"."jobs" as job
      ("id", "type", "queue", "payload", "priority", "status", "owner", "dedupe_key", "created_at", "updated_at",
       "run_at", "stage", "expected_duration_ms", "max_attempts", "traceparent")
    overriding system value
    select asked.id, wish ->> 'type', wish ->> 'queue', coalesce(wish -> 'payload', '{}'),
           coalesce((wish ->> 'priority')::numeric::int, 0), /*waiting*/'waiting', wish ->> 'owner',
           wish ->> 'dedupe_key', v_now, v_now,
           -- Rounded, for float8 refuses to read what is nearly nothing.
           coalesce((wish ->> 'run_at')::timestamptz,
                    "unstuck".after_ms(v_now, round((wish ->> 'delay_ms')::numeric, 3)::float8)),
           wish ->> 'stage', (wish ->> 'expected_duration_ms')::numeric::int,
           coalesce((wish ->> 'max_attempts')::numeric::int, v_policy.max_attempts), wish ->> 'traceparent'
      from unnest(v_ids, v_wishes) asked(id, wish)
     -- Two calls with the same keys wait for each other in one order.
     order by wish ->> 'type', wish ->> 'dedupe_key' nulls first, asked.id
    on conflict do nothing
    returning job."id", job."run_at"
  )
  select array_agg(created."id"), bool_or(coalesce(created."run_at" <= v_now, true)) into v_created, v_is_due
    from created;
  if v_is_due then
    perform "unstuck".send_hint(v_policy);
  end if;

  if v_policy.events = 'all' then
    perform "unstuck"."record_events"(v_now, array_agg(
      row(created::text, 'queued', jsonb_build_object('cause', 'enqueue'))::"unstuck".new_event order by created))
      from unnest(v_created) created;
  end if;
  return query
  select coalesce(created.id, "unstuck"."unfinished_job"(wish ->> 'type', wish ->> 'dedupe_key'))::text,
         case when created.id is null then 'duplicate' else 'created' end,
         null::float8
    from unnest(v_ids, v_wishes) with ordinality asked(id, wish, ordinal)
    left join unnest(v_created) created(id) on created.id = asked.id
   order by asked.ordinal;
end
$$;
