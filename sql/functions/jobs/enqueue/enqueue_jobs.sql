-- Writes all jobs or none. A job whose dedupe key an unfinished job of its type has answers that job's id instead.
-- p_jobs: an array of { type, payload, queue, priority, delay_ms, run_at, stage, expected_duration_ms, max_attempts,
-- owner, dedupe_key, traceparent }. The maximum in force is written into the row, so that it is visible there.
create or replace function "unstuck"."enqueue_jobs"(p_jobs jsonb, p_policy jsonb default null)
returns setof "unstuck".job_outcome language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz := clock_timestamp();
  v_now_us bigint := extract(epoch from v_now) * 1000000::numeric;
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_alike jsonb;
  v_problem text;
  v_ids /*id*/uuid[];
  v_created /*id*/uuid[];
  v_is_due boolean;
begin
  perform "unstuck".require(jsonb_typeof(p_jobs) = 'array', 'jobs', p_jobs::text, 'an array of jobs');
  -- Many jobs mostly differ in their payload alone: then one is checked for all. For fewer the look costs more.
  if jsonb_array_length(p_jobs) >= 20 and jsonb_typeof(p_jobs -> 0) = 'object' then
    v_alike := (p_jobs -> 0) - 'payload'::text;
    if exists (select from jsonb_array_elements(p_jobs) wish
                where case when jsonb_typeof(wish) = 'object' then wish - 'payload'::text end
                      is distinct from v_alike) then
      v_alike := null;
    end if;
  end if;
  -- With an offset the check is not copied into the condition, and is prepared once.
  select problem into v_problem
    from (select "unstuck".job_problem(wish) as problem
            from jsonb_array_elements(case when v_alike is null then p_jobs else jsonb_build_array(v_alike) end) wish
          offset 0) checked
   where problem is not null limit 1;
  if v_problem is not null then
    raise exception using errcode = 'UN001', message = v_problem;
  end if;
  if v_policy.is_observed then
    perform "unstuck".require_acting(/*attachment*/'native');
  end if;
  -- Ids a microsecond apart, so that the jobs of one call run in their order.
  v_ids := array(select /*new_id*/("unstuck".uuid_v7_of(v_now_us + ordinal))
                   from generate_series(1, jsonb_array_length(p_jobs)) ordinal order by ordinal);

  if v_alike is not null and v_alike ->> 'dedupe_key' is null and not "unstuck"."has_row_constraints"() then
    v_is_due := "unstuck"."insert_uniform_jobs"(v_alike, p_jobs, v_ids, v_now, v_policy.max_attempts);
    v_created := v_ids;
  else
    select created, is_due into v_created, v_is_due
      from "unstuck"."insert_jobs"(p_jobs, v_ids, v_now, v_policy.max_attempts);
  end if;
  if v_is_due then
    perform "unstuck".send_hint(v_policy);
  end if;

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
  select coalesce(created.id, "unstuck"."unfinished_job"(wish ->> 'type', wish ->> 'dedupe_key'))::text,
         case when created.id is null then 'duplicate' else 'created' end,
         null::float8
    from rows from (pg_catalog.unnest(v_ids), jsonb_array_elements(p_jobs)) with ordinality asked(id, wish, ordinal)
    left join pg_catalog.unnest(v_created) created(id) on created.id = asked.id
   order by asked.ordinal;
end
$$;
