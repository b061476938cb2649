-- Inserts all jobs or none. A job whose dedupe key an unfinished job of its type has returns the id of that job
-- instead. p_jobs: an array of { type, payload, queue, priority, delay_ms, run_at, stage, expected_duration_ms,
-- max_attempts, owner, dedupe_key, traceparent }. The effective maximum of attempts is written into the row.
create or replace function "unstuck"."enqueue_jobs"(p_jobs jsonb, p_policy jsonb default null)
returns setof "unstuck".job_outcome language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz := clock_timestamp();
  v_now_us bigint := extract(epoch from v_now) * 1000000::numeric;
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_uniform jsonb;
  v_problem text;
  v_ids /*id*/uuid[];
  v_created /*id*/uuid[];
  v_queues text[]; v_delays_ms float8[]; v_counts int[];
begin
  perform "unstuck".require(jsonb_typeof(p_jobs) = 'array', 'jobs', p_jobs::text, 'an array of jobs');
  -- Large batches mostly differ in their payload only: one job is then checked for all. Not worth it for fewer than 20.
  if jsonb_array_length(p_jobs) >= 20 and jsonb_typeof(p_jobs -> 0) = 'object' then
    v_uniform := (p_jobs -> 0) - 'payload'::text;
    if exists (select from jsonb_array_elements(p_jobs) requested
                where case when jsonb_typeof(requested) = 'object' then requested - 'payload'::text end
                      is distinct from v_uniform) then
      v_uniform := null;
    end if;
  end if;
  -- OFFSET keeps the check from being copied into the condition.
  select problem into v_problem
    from (select "unstuck".job_problem(requested) as problem
            from jsonb_array_elements(
                   case when v_uniform is null then p_jobs else jsonb_build_array(v_uniform) end) requested
          offset 0) checked
   where problem is not null limit 1;
  if v_problem is not null then
    raise exception using errcode = 'UN001', message = v_problem;
  end if;
  if v_policy.is_observed then
    perform "unstuck".require_acting(/*attachment*/'native');
  end if;
  -- Ids a microsecond apart, so that the jobs of one call run in order.
  v_ids := array(select /*new_id*/("unstuck".uuid_v7_of(v_now_us + ordinal))
                   from generate_series(1, jsonb_array_length(p_jobs)) ordinal order by ordinal);

  if v_uniform is not null and v_uniform ->> 'dedupe_key' is null and not "unstuck"."has_row_constraints"() then
    v_delays_ms := array["unstuck"."insert_uniform_jobs"(v_uniform, p_jobs, v_ids, v_now, v_policy.max_attempts)];
    v_created := v_ids; v_counts := array[cardinality(v_ids)];
    v_queues := array[coalesce(v_uniform ->> 'queue', v_uniform ->> 'type')];
  else
    select created, queues, delays_ms into v_created, v_queues, v_delays_ms
      from "unstuck"."insert_jobs"(p_jobs, v_ids, v_now, v_policy.max_attempts);
  end if;
  perform "unstuck".send_job_hint(v_policy, v_queues, v_delays_ms, v_counts);

  if v_policy.events = 'all' then
    perform "unstuck"."record_events"(v_now, array_agg(
      row(created::text, 'queued', jsonb_build_object('cause', 'enqueue'))::"unstuck".new_event order by created))
      from pg_catalog.unnest(v_created) created;
  end if;
  if cardinality(v_created) = cardinality(v_ids) then
    return query select asked.id::text, 'created', null::float8 from pg_catalog.unnest(v_ids) asked(id);
    return;
  end if;
  return query
  select coalesce(created.id, "unstuck"."unfinished_job"(requested ->> 'type', requested ->> 'dedupe_key'))::text,
         case when created.id is null then 'duplicate' else 'created' end,
         null::float8
    from rows from (pg_catalog.unnest(v_ids), jsonb_array_elements(p_jobs))
           with ordinality asked(id, requested, ordinal)
    left join pg_catalog.unnest(v_created) created(id) on created.id = asked.id
   order by asked.ordinal;
end
$$;
