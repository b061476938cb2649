-- Private: claims from queues with limits or groups, turn by turn. Returns batches as claim_due does, each with its
-- priority, and how many more jobs the claim may take: none if it got a last chance, or is reserved for one. p_slots:
-- those of half-open breakers. If limits kept it from taking all that it asked for, the last batch has no jobs, but the
-- names of these queues, "held_back": a job that ends there may let another one start. Its priority is NULL, as that of
-- a refusal, if it got nothing because another claim is at a queue or group of this one, or because it ended as many
-- jobs as a claim may and left others that hold up their groups.
create or replace function "unstuck"."claim_limited"(
  p_worker_id text, p_queues text[], p_limit int, p_types jsonb, p_policy "unstuck".policies, p_lease_ms bigint,
  p_lease_id uuid, p_id /*id*/uuid, p_actor text, p_slots jsonb, inout free int,
  out priorities int[], out granted_at timestamptz[], out jobs text[])
language plpgsql as $$
declare
  v_queues text[] := p_queues; v_after int[] := '{-2147483648,-2147483648}'; v_size int := 64;
  v_slots jsonb := p_slots; v_skips text[] := '{}'; v_buried int := 0; v_held_back text[] := '{}';
  v_is_refused boolean := false;
  v_turn record; v_due record; v_choice record; v_asked text[]; v_ids /*id*/uuid[]; v_is_spent boolean;
  v_followers int; v_ended int := 0;
begin
  while free > 0 loop
    v_turn := "unstuck"."next_turn"(least(free, v_size), p_types, p_policy, v_skips, p_id, v_queues, v_after);
    v_queues := v_turn.queues; v_after := v_turn.after; v_is_refused := v_is_refused or v_turn.is_refused;
    v_held_back := array_cat(v_held_back, v_turn.held_back);
    exit when v_turn.priority is null;
    v_asked := array_fill(v_queues[1], array[cardinality(v_turn.shares)]); v_ids := null;
    loop
      v_due := "unstuck"."claim_due"(
        p_worker_id, v_asked, v_turn.shares, least(free, v_size), v_turn.priority, p_types, null, p_policy, p_lease_ms,
        p_lease_id, v_skips, case when v_ids is null then v_slots end, v_turn.lane, v_turn.starts, v_turn.ids, v_ids,
        p_actor);
      exit when v_due.held is null or v_ids is not null;
      v_choice := "unstuck"."decide_claim"(
        p_worker_id, v_due.held, free = p_limit or p_id is not null, p_id is null, p_lease_id, p_policy, v_buried,
        v_skips, v_slots);
      if v_choice.is_reserved then
        free := 0;
        return;
      end if;
      free := case when v_choice.is_alone then 1 else free end;
      -- Without ids it has ended jobs, or skips some from now on: another turn.
      v_is_spent := v_choice.ids is null;
      v_buried := v_choice.buried; v_skips := v_choice.skips; v_slots := v_choice.slots; v_ids := v_choice.ids;
      if v_buried > v_ended and v_turn.lane = 1 and p_id is null then
        v_ended := v_buried;
        v_followers := "unstuck"."bury_followers"(v_queues[1], v_turn.ids, p_policy);
        v_is_refused := v_is_refused or v_followers is not null and 'spent'::text = any (v_skips);
      end if;
      exit when v_is_spent or cardinality(v_ids) = 0;
    end loop;
    if v_due.granted > 0 then
      priorities := array_append(priorities, v_turn.priority); granted_at := array_append(granted_at, v_due.granted_at);
      jobs := array_append(jobs, v_due.jobs);
      free := free - v_due.granted;
      v_size := least(10000, 50000000 / (octet_length(v_due.jobs) / v_due.granted)) + 1;
    elsif v_is_spent is not true then
      v_after[v_turn.lane + 1] := v_turn.priority;
    end if;
    v_is_spent := null;
    exit when p_id is not null;
  end loop;
  v_is_refused := v_is_refused and jobs is null;
  if free > 0 and (v_is_refused or cardinality(v_held_back) > 0) then
    v_held_back := case when v_is_refused then p_queues else v_held_back end;
    priorities := array_append(priorities, case when v_is_refused then null else 0 end);
    granted_at := array_append(granted_at, clock_timestamp());
    jobs := array_append(jobs, json_build_object('id', '[]'::json, 'held_back', array(
      select distinct held.queue from pg_catalog.unnest(v_held_back) held(queue)))::text);
  end if;
  free := case when p_id is null and "unstuck"."kept_job"(p_worker_id) is null then free else 0 end;
end
$$;
