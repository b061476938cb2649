-- Private: which of the jobs that a claim has locked it may grant: "ids". NULL: the claim repeats without the jobs that
-- were ended here, or without those that "skips" names. Breakers that were asked for slots give no more to this claim.
-- is_alone: the worker gets this one job. is_reserved: it gets none, because it waits for a job with a last chance.
create or replace function "unstuck"."decide_claim"(
  p_worker_id text, p_held json, p_is_first boolean, p_reserves boolean, p_lease_id uuid, p_policy "unstuck".policies,
  inout buried int, inout skips text[], inout slots jsonb,
  out ids /*id*/uuid[], out is_alone boolean, out is_reserved boolean)
language plpgsql as $$
declare
  v_held /*id*/uuid[]; v_queues text[]; v_spent /*id*/uuid[];
  v_queue text;
  v_probes /*id*/uuid[];
begin
  select array_agg(held.id order by ordinal), array_agg(held.queue order by ordinal),
         array_agg(held.id order by ordinal) filter (where held.chance = 'spent')
    into v_held, v_queues, v_spent
    from json_array_elements(p_held) with ordinality listed(job, ordinal),
         json_to_record(listed.job) held(id /*id*/uuid, queue text, chance text);
  if v_spent is not null then
    perform "unstuck"."bury_spent"(v_spent, p_policy);
    buried := buried + cardinality(v_spent);
    skips := case when buried >= 100 then array_append(skips, 'spent'::text) else skips end;
    return;
  end if;
  if 'last'::text <> all (skips) then
    is_alone := "unstuck"."keep_worker"(p_worker_id, v_held, p_is_first, p_reserves, p_lease_id, p_policy);
    if not is_alone then
      is_reserved := "unstuck"."kept_job"(p_worker_id) is not null;
      skips := array_append(skips, 'last'::text);
      return;
    end if;
  end if;
  ids := case when is_alone then array(
    select kept.job_id::/*id*/uuid from "unstuck".kept_workers kept
     where kept.attachment = /*attachment*/'native' and kept.worker_id = p_worker_id) else v_held end;
  for v_queue in select distinct queue from pg_catalog.unnest(v_queues) queue where slots ? queue loop
    v_probes := array(select held.id from unnest(v_held, v_queues) with ordinality held(id, queue, ordinal)
                       where held.queue = v_queue and held.id = any (ids) order by held.ordinal);
    v_probes := v_probes["unstuck".take_probe_slots(/*attachment*/'native', v_queue, v_probes::text[]) + 1:];
    ids := array(select id from pg_catalog.unnest(ids) id where id <> all (v_probes));
    slots := jsonb_set(slots, array[v_queue], '0');
  end loop;
end
$$;
