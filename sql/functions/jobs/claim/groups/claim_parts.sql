-- Private: a claim from queues of which some (p_limited) have limits or groups. They come before or after the others at
-- random, so that neither wait for the others. If another claim is in flight at a limited queue or group, and this one
-- gets nothing, it refuses with a row of NULLs, as claim_batches does.
create or replace function "unstuck"."claim_parts"(
  p_worker_id text, p_queues text[], p_limited text[], p_limit int, p_types text[], p_lease_ms bigint, p_policy jsonb,
  p_actor text, p_cursors jsonb, p_id /*id*/uuid, p_slots jsonb)
returns table (
  lease_id uuid, priority int, max_attempts int, default_stage text, granted_at timestamptz, jobs text)
language plpgsql as $$
#variable_conflict use_variable
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_is_limited boolean := cardinality(p_queues) = 0 or random() < 0.5::float8;
  v_free int := case when p_id is null then p_limit else 1 end;
  v_turns record;
begin
  for v_part in 1 .. 2 loop
    if v_is_limited then
      lease_id := gen_random_uuid(); max_attempts := v_policy.max_attempts; default_stage := v_policy.default_stage;
      v_turns := "unstuck"."claim_limited"(
        p_worker_id, p_limited, p_limit, jsonb_object(p_types, p_types), v_policy, p_lease_ms, lease_id, p_id, p_actor,
        v_free, 0, '{}', p_slots);
      for v_place in 1 .. coalesce(cardinality(v_turns.jobs), 0) loop
        priority := v_turns.priorities[v_place]; granted_at := v_turns.granted_at[v_place];
        jobs := v_turns.jobs[v_place]; return next;
      end loop;
      v_free := v_turns.free;
    elsif cardinality(p_queues) > 0 then
      for lease_id, priority, max_attempts, default_stage, granted_at, jobs in
        select batch.* from "unstuck"."claim_batches"(
          p_worker_id, p_queues, v_free, p_types, p_lease_ms, p_policy, p_actor, p_cursors, p_is_part => true,
          p_slots => p_slots) batch
      loop
        return next;
        v_free := v_free - json_array_length(jobs::json -> 'id'::text);
      end loop;
    end if;
    v_is_limited := not v_is_limited;
    -- A worker that got a last chance, or is reserved for one, takes no other job.
    exit when p_id is not null or v_free <= 0 or "unstuck"."kept_job"(p_worker_id) is not null;
  end loop;
  if v_turns is not null and granted_at is null and v_turns.is_refused then
    lease_id := null; return next;
  end if;
end
$$;
