-- Extends all leases of a worker: those of free rows in one update, the others with SKIP LOCKED. A locked row delays
-- nobody; its answer is busy as long as a later plain read still shows the lease.
create or replace function "unstuck"."heartbeat_jobs"(
  p_ids /*id*/uuid[], p_lease_ids uuid[], p_lease_ms bigint default null, p_policy jsonb default null)
returns setof "unstuck".heartbeat_answer language plpgsql set plan_cache_mode = /*plan_mode*/force_generic_plan as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_lease_ms bigint := coalesce(p_lease_ms, "unstuck".same_lease_ms(v_policy));
  v_now timestamptz;
  v_held /*id*/uuid[];
  v_held_lease_ids uuid[];
  v_answers text[];
  v_reaper_age_ms float8;
begin
  perform "unstuck".require_leases(p_ids, p_lease_ids);
  perform "unstuck".require(coalesce(p_lease_ms, 1) between 1 and 31536000000, 'lease_ms', p_lease_ms::text,
                            'milliseconds from 1 to one year');
  v_now := clock_timestamp();
  select free.ids, free.lease_ids, free.answers into v_held, v_held_lease_ids, v_answers
    from "unstuck"."extend_free_leases"(p_ids, p_lease_ids, v_lease_ms, v_policy, v_now) free;

  if coalesce(cardinality(v_held), 0) < cardinality(p_ids) then
    with held as materialized (
      select job."id" as id, beat.lease_id, job."deadline_at" <= v_now as is_past,
             job."cancel_requested_at" is not null as is_cancelled,
             least("unstuck".after_ms(v_now, coalesce(v_lease_ms, "unstuck".stage_lease_ms(
                     v_policy, coalesce(job."stage", v_policy.default_stage, job."type"), job."expected_duration_ms"))),
                   job."deadline_at") as lease_ends_at
        -- Each lease once, even if asked twice: a row that this statement has written cannot be locked again.
        from (select * from unnest(p_ids, p_lease_ids) beat(id, lease_id)
              except select * from unnest(v_held, v_held_lease_ids) order by id) beat,
             -- Row by row through the primary key: a join would scan a table without statistics.
             lateral (select * from "unstuck"."jobs" job
                       where job."id" = beat.id and job."lease_id" = beat.lease_id
                         and job."status" is not distinct from /*any_running*/'running'
                         for no key update skip locked) job
    ), kept as (
      update "unstuck"."jobs" job
         set "lease_expires_at" = held.lease_ends_at, "heartbeat_at" = v_now
        from held
       where job."id" = held.id and job."id" = any (p_ids) and held.is_past is not true
      returning job."id"
    )
    select array_cat(v_held, array_agg(held.id)), array_cat(v_held_lease_ids, array_agg(held.lease_id)),
           array_cat(v_answers, array_agg(case when held.is_past then 'past-deadline'
                                               when held.is_cancelled then 'cancel-asked'
                                               else 'kept' end))
      into v_held, v_held_lease_ids, v_answers
      from held left join kept on kept."id" = held.id;
  end if;

  v_reaper_age_ms := (select "unstuck".ms_between(swept_at, v_now) from "unstuck".sweeps
                       where attachment = /*attachment*/'native');
  return query
  select held.id::text, held.lease_id, held.answer, v_reaper_age_ms
    from unnest(v_held, v_held_lease_ids, v_answers) held(id, lease_id, answer);
  if coalesce(cardinality(v_held), 0) < cardinality(p_ids) then
    return query
    select beat.id::text, beat.lease_id,
           case when held.answer is not null then held.answer
                when job."lease_id" = beat.lease_id and job."status" is not distinct from /*any_running*/'running'
                  then 'busy'
                when job."finished_lease_id" = beat.lease_id then 'finished'
                else 'lost' end,
           v_reaper_age_ms
      from (select * from unnest(p_ids, p_lease_ids) beat(id, lease_id)
            except all select * from unnest(v_held, v_held_lease_ids)) beat
      left join unnest(v_held, v_held_lease_ids, v_answers) held(id, lease_id, answer) using (id, lease_id)
      left join "unstuck"."jobs" job on job."id" = beat.id;
  end if;
end
$$;
