-- Private: the claim. Returns jobs in batches, as claim_due does; claim_jobs makes rows of them. With p_id, only that
-- job. p_queues has no name twice, and p_cursors are valid.
-- It goes through "jobs_ready" priority by priority, bounded by the due time, so it never scans jobs in backoff, jobs
-- of other queues, or jobs of paused queues and open breakers; and it never reads lease columns. The limit applies
-- after the lock and every condition: skipped jobs do not count. The first batch is small, and the size of the others
-- follows from its payloads: a text may have 1 GB in PostgreSQL and 512 MB in JavaScript.
-- p_cursors, { queue: { priority: time } }, skips jobs that were due before the time. A worker passes the times that
-- its last claims reached, and now and then none, so that no job is skipped for long.
-- A job without budget is ended by the claim that meets it (C10), so no sweep has to search for it; after a hundred
-- such jobs the claim skips the rest.
-- A job whose next crash would end it goes to an idle worker, which gets no other job meanwhile (REAP-15). A worker
-- that is reserved for such a job leaves its slots empty until it is idle.
-- With p_is_serial it refuses, by one row without a priority, while another such claim of these queues is in flight:
-- both would examine each other's locked rows, which doubles the time of eight claims at once. It never waits, and
-- nothing depends on it: a client that was refused for as long as a large claim takes claims without it.
-- Queues with limits or groups are claimed from apart (claim_limited), before or after the others at random, so that
-- neither wait for the others. If another claim is at such a queue or group, and this one gets nothing, it refuses.
create or replace function "unstuck"."claim_batches"(
  p_worker_id text, p_queues text[], p_limit int, p_types text[], p_lease_ms bigint, p_policy jsonb, p_actor text,
  p_cursors jsonb, p_id /*id*/uuid default null, p_is_serial boolean default false)
returns table (lease_id uuid, priority int, max_attempts int, default_stage text, granted_at timestamptz, jobs text)
language plpgsql set plan_cache_mode = /*plan_mode*/force_generic_plan set enable_seqscan = off
set enable_bitmapscan = off as $$
#variable_conflict use_variable
declare
  v_policy "unstuck".policies; v_types jsonb; -- By key: 2 ms faster for 1,000 types than in an array.
  v_queues text[] := p_queues; v_limited text[]; v_is_limited boolean := false; v_turns record; v_slots jsonb;
  v_skips text[] := '{}'; v_buried int := 0; v_level record; v_asked text[]; v_shares int[]; v_is_rest boolean;
  v_left int := p_limit; v_size int := 64; v_take int; v_tries int := 0; v_due record; v_choice record;
  v_ids /*id*/uuid[]; v_only /*id*/uuid[];
begin
  select * into v_policy from "unstuck".policies where attachment = /*attachment*/'native'; -- Saves a call, 3 µs.
  if not found or p_policy is not null then v_policy := "unstuck".policy_of(/*attachment*/'native', p_policy); end if;
  v_types := "unstuck".claim_types(p_worker_id, p_queues, p_limit, p_types, p_lease_ms);
  if v_policy.is_observed then perform "unstuck".require_acting(/*attachment*/'native'); end if;
  /*+without_deadlines perform "unstuck".refuse_deadlines(/*attachment*/'native', v_policy); */
  if p_is_serial and not "unstuck".is_only_claim(/*attachment*/'native', p_queues) then return next; return; end if;
  lease_id := gen_random_uuid(); priority := -2147483648;
  max_attempts := v_policy.max_attempts; default_stage := v_policy.default_stage;
  if "unstuck"."has_queue_rules"() then select * into p_id, v_queues, v_limited, v_is_limited, v_slots
    from "unstuck"."claim_scope"(p_worker_id, p_queues, p_id);
  end if;
  if p_id is not null then v_left := 1; v_only := array[p_id];
    select * into priority, v_queues, p_cursors from "unstuck"."claim_level_of"(p_id, v_queues, p_types);
  end if;
  while v_left > 0 loop
    if v_is_limited then
      v_turns := "unstuck"."claim_limited"(
        p_worker_id, v_limited, p_limit, v_types, v_policy, p_lease_ms, lease_id, p_id, p_actor, v_slots, v_left);
      return query select lease_id, turn.priority, max_attempts, default_stage, turn.granted_at, turn.jobs
                     from unnest(v_turns.priorities, v_turns.granted_at, v_turns.jobs) turn(priority, granted_at, jobs);
      v_left := v_turns.free; v_is_limited := false; v_limited := null; continue;
    end if;
    v_level := "unstuck"."claim_level"(v_queues, priority, p_cursors);
    if v_level.priority is null then
      exit when v_limited is null or "unstuck"."kept_job"(p_worker_id) is not null; v_is_limited := true; continue;
    end if;
    priority := v_level.priority; v_take := least(v_left, v_size); v_is_rest := cardinality(v_level.queues) = 1;
    v_asked := null; v_ids := null;
    loop
      if v_asked is null and v_is_rest then
        v_asked := v_level.queues; v_shares := array_fill(v_take, array[cardinality(v_asked)]);
      elsif v_asked is null then
        select * into v_asked, v_shares from "unstuck"."claim_shares"(
          v_level.queues, v_level.due_at, v_level.ids, priority, v_take, v_types, v_policy, p_cursors, v_skips);
      end if;
      v_due := "unstuck"."claim_due"(
        p_worker_id, v_asked, v_shares, v_take, priority, v_types, p_cursors, v_policy, p_lease_ms, lease_id, v_skips,
        case when v_ids is null then v_slots end, 0, null, v_only, v_ids, p_actor);
      if v_due.held is not null and v_ids is null then
        v_choice := "unstuck"."decide_claim"(
          p_worker_id, v_due.held, v_left = p_limit or p_id is not null, p_id is null, lease_id, v_policy, v_buried,
          v_skips, v_slots);
        if v_choice.is_reserved then return; end if; if v_choice.is_alone then v_left := 1; v_take := 1; end if;
        v_buried := v_choice.buried; v_slots := v_choice.slots; v_ids := v_choice.ids;
        if cardinality(v_choice.skips) > cardinality(v_skips) then v_skips := v_choice.skips; v_asked := null; end if;
        continue when v_ids is null or cardinality(v_ids) > 0;
      else
        if v_due.granted > 0 then
          granted_at := v_due.granted_at; jobs := v_due.jobs; return next;
          v_left := v_left - v_due.granted; v_take := v_take - v_due.granted; if v_left = 0 then return; end if;
          v_size := least(10000, 50000000 / (octet_length(jobs) / v_due.granted)) + 1;
        end if;
        v_tries := case when v_due.granted > 0 then 0 else v_tries + 1 end; -- A trigger may keep jobs from running.
        continue when v_take > 0 and v_due.locked > v_due.granted and v_tries < 3; -- A row has moved.
      end if;
      exit when v_is_rest or v_take = 0; -- Others may have locked jobs of the shares.
      v_is_rest := true; v_asked := null; v_ids := null;
    end loop;
    exit when p_id is not null; priority := priority - (v_take = 0)::int; -- There may be more.
  end loop;
end
$$;

-- Private: whether no other serial claim of these queues is in flight. Holds the lock until the transaction ends.
create or replace function "unstuck".is_only_claim(p_attachment text, p_queues text[])
returns boolean language sql volatile
return pg_try_advisory_xact_lock(
  "unstuck".lock_class('claim'), hashtext(p_attachment || ' ' || array_to_string(p_queues, ' ')));
