-- Private: what a claim may take next from a queue with limits or groups: of its jobs without a group up to "share"
-- (lane 0), or the jobs "ids", which it has locked, with their due times (lane 1, or p_id). p_after has the priorities
-- that gave nothing more, of each lane. priority NULL: there is nothing left. is_refused: another claim has a row.
-- is_held_back: a due job waits for a place of the queue or of its group.
-- The limit of a queue or group holds because only the claim that has locked its row may start its jobs, and it counts
-- what runs in a later statement: that snapshot has all that the last holder of the row has granted.
create or replace function "unstuck"."claim_turn"(
  p_queue text, p_limit int, p_after int[], p_types jsonb, p_policy "unstuck".policies, p_skips text[],
  p_id /*id*/uuid, out priority int, out lane int, out share int, out starts timestamptz[], out ids /*id*/uuid[],
  out is_refused boolean, out is_held_back boolean)
language plpgsql as $$
declare
  v_rule "unstuck".queue_limits;
  v_slot int := "unstuck".claim_slot(/*attachment*/'native', p_queue);
  v_has_slot boolean := cardinality("unstuck".lock_claim_slots(array[v_slot])) > 0;
  v_plain int; v_groups text[]; v_open text[]; v_head int; v_is_full boolean;
  v_free int; v_kept /*id*/uuid;
begin
  select * into v_rule from "unstuck".queue_limits where attachment = /*attachment*/'native' and queue = p_queue;
  share := p_limit;
  if v_rule.concurrency is not null then
    is_refused := not v_has_slot;
    if is_refused then return; end if;
    v_free := v_rule.concurrency - "unstuck"."queue_running"(p_queue, v_rule.concurrency);
    v_kept := (select kept.id from "unstuck"."reserved_place"(p_queue) kept);
    share := least(p_limit, v_free - (v_kept is not null and v_kept is distinct from p_id)::int);
    if share <= 0 then
      is_held_back := "unstuck"."has_due_jobs"(array[p_queue]);
      -- The last place is that of the job for which a worker is reserved.
      if v_free > 0 and p_id is null and 'last'::text <> all (p_skips) then
        share := 1;
        select case when turn.ids is not null then turn.priority end, turn.lane, turn.starts, turn.ids
          into priority, lane, starts, ids
          from "unstuck"."claim_turn_of"(v_kept, p_types, v_rule.group_concurrency, v_rule.group_order) turn;
      end if;
      return;
    end if;
  end if;
  if p_id is not null then
    select * into priority, lane, starts, ids, is_refused
      from "unstuck"."claim_turn_of"(p_id, p_types, v_rule.group_concurrency, v_rule.group_order);
    return;
  end if;
  select level.priority into v_plain
    from "unstuck"."claim_level"(array[p_queue], p_after[1], null) level;
  priority := "unstuck"."group_level"(p_queue, p_after[2]);
  -- In one priority, jobs without a group come first in every second claim.
  if priority is null or v_plain < priority or v_plain = priority and random() < 0.5::float8 then
    priority := v_plain; lane := 0;
    return;
  end if;
  lane := 1;
  select next.groups, next.is_held_back into v_groups, is_held_back
    from "unstuck"."next_groups"(
      p_queue, priority, v_rule.group_order, v_rule.group_concurrency, p_types, least(share, 100), v_has_slot) next;
  if v_rule.group_concurrency is not null then
    v_open := v_groups;
    v_groups := "unstuck".lock_groups(/*attachment*/'native', p_queue, v_open);
    is_refused := cardinality(v_groups) < cardinality(v_open);
  end if;
  if v_groups is null or cardinality(v_groups) = 0 then
    return;
  elsif v_rule.group_order is null then
    select * into starts, ids, v_is_full from "unstuck"."lock_grouped"(
      p_queue, v_groups, share, v_rule.group_concurrency, priority, p_types, p_policy, p_skips);
  else
    select * into v_head, starts, ids, v_is_full from "unstuck"."lock_heads"(
      p_queue, v_groups, share, p_types, p_policy, p_skips);
    priority := coalesce(v_head, priority);
  end if;
  is_held_back := is_held_back or v_is_full;
end
$$;

-- Private: the next groups of a priority, as open_groups finds them, from where its last claim stopped. The row that
-- says where is that of the queue for the default priority, and another one for each other: the few groups of an urgent
-- priority begin anew with each claim, and would send those of the next one back to their first.
create or replace function "unstuck"."next_groups"(
  p_queue text, p_priority int, p_order text, p_places int, p_types jsonb, p_limit int, p_has_slot boolean,
  out groups text[], out is_held_back boolean)
language plpgsql as $$
declare
  v_slot int := "unstuck".claim_slot(
    /*attachment*/'native', p_queue, case when p_priority <> 0 then format('priority %s', p_priority) end);
  v_has_slot boolean := p_has_slot;
  v_from text;
begin
  if p_priority <> 0 then
    v_has_slot := cardinality("unstuck".lock_claim_slots(array[v_slot])) > 0;
  end if;
  select open.groups, open.next_from, open.is_held_back into groups, v_from, is_held_back
    from "unstuck"."open_groups"(
      p_queue, p_priority, p_order, p_places, p_types,
      (select lock.reached from "unstuck".claim_locks lock where lock.slot = v_slot), p_limit) open;
  if v_has_slot then
    update "unstuck".claim_locks lock set reached = v_from where lock.slot = v_slot;
  end if;
end
$$;

-- Private: claim_turn for one job, if it is due and no one has locked it.
create or replace function "unstuck"."claim_turn_of"(
  p_id /*id*/uuid, p_types jsonb, p_places int, p_order text,
  out priority int, out lane int, out starts timestamptz[], out ids /*id*/uuid[], out is_refused boolean)
language plpgsql as $$
declare
  v_queue text;
  v_group text;
  v_due_at timestamptz;
begin
  select job."priority", coalesce(job."queue", job."type"), job."group_key", coalesce(job."run_at", job."created_at")
    into priority, v_queue, v_group, v_due_at
    from "unstuck"."jobs" job
   where job."id" = p_id and job."status" is not distinct from /*waiting*/'waiting'
     and coalesce(job."run_at", job."created_at") <= now() and (p_types is null or p_types ? job."type"::text)
     for no key update of job skip locked;
  if not found then
    return;
  end if;
  lane := (v_group is not null)::int;
  if v_group is not null and p_places is not null then
    is_refused := cardinality("unstuck".lock_groups(/*attachment*/'native', v_queue, array[v_group])) = 0;
    if is_refused or "unstuck"."group_running"(v_queue, v_group, p_places) + (
         select count(*) from "unstuck"."reserved_place"(v_queue) kept
          where kept.group_key = v_group and kept.id <> p_id) >= p_places then
      return;
    end if;
    -- After the count: a job that ran may be the first again.
    if p_order is not null and p_id is distinct from "unstuck"."group_head"(v_queue, v_group) then
      return;
    end if;
  end if;
  starts := array[v_due_at]; ids := array[p_id];
end
$$;

-- Private: the next turn of a claim among queues with limits or groups, the queues that are left, and those where it
-- met a limit.
create or replace function "unstuck"."next_turn"(
  p_limit int, p_types jsonb, p_policy "unstuck".policies, p_skips text[], p_id /*id*/uuid,
  inout queues text[], inout after int[], out priority int, out lane int, out shares int[], out starts timestamptz[],
  out ids /*id*/uuid[], out is_refused boolean, out held_back text[])
language plpgsql as $$
declare
  v_turn record;
begin
  is_refused := false; held_back := '{}';
  -- Bounded: each look takes a priority of a queue.
  for v_look in 1 .. 100 loop
    exit when cardinality(queues) = 0;
    v_turn := "unstuck"."claim_turn"(queues[1], p_limit, after, p_types, p_policy, p_skips, p_id);
    is_refused := is_refused or v_turn.is_refused is true;
    held_back := case when v_turn.is_held_back then array_append(held_back, queues[1]) else held_back end;
    if v_turn.lane = 0 and v_turn.ids is null or cardinality(v_turn.ids) > 0 then
      priority := v_turn.priority; lane := v_turn.lane; starts := v_turn.starts; ids := v_turn.ids;
      shares := case when ids is null then array[v_turn.share] else array_fill(1, array[cardinality(ids)]) end;
      exit when priority is not null;
    end if;
    if v_turn.priority is null or p_id is not null then
      queues := queues[2:]; after := '{-2147483648,-2147483648}';
    else
      after[v_turn.lane + 1] := v_turn.priority;
    end if;
  end loop;
  queues := case when priority is null then '{}' else queues end;
end
$$;
