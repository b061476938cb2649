-- Private: which of the jobs that a claim has locked it may grant. NULL: the claim repeats, without the jobs that were
-- ended here, or without those that have a last chance if is_alone is false. Breakers that were asked for slots give no
-- more to this claim.
create or replace function "unstuck"."decide_claim"(
  p_worker_id text, p_held /*id*/uuid[], p_queues text[], p_spent /*id*/uuid[], p_takes_any boolean,
  p_is_first boolean, p_reserves boolean, p_slots jsonb, p_lease_id uuid, p_policy "unstuck".policies,
  out ids /*id*/uuid[], out is_alone boolean, out slots jsonb)
language plpgsql as $$
declare
  v_queue text;
  v_probes /*id*/uuid[];
begin
  slots := p_slots;
  if p_spent is not null then
    perform "unstuck"."bury_spent"(p_spent, p_policy);
    return;
  end if;
  if p_takes_any then
    is_alone := "unstuck"."keep_worker"(p_worker_id, p_held, p_is_first, p_reserves, p_lease_id, p_policy);
    if not is_alone then
      return;
    end if;
  end if;
  ids := case when is_alone then p_held[1:1] else p_held end;
  for v_queue in select distinct queue from pg_catalog.unnest(p_queues) queue where p_slots ? queue loop
    v_probes := array(select held.id from unnest(p_held, p_queues) with ordinality held(id, queue, ordinal)
                       where held.queue = v_queue and held.id = any (ids) order by held.ordinal);
    v_probes := v_probes["unstuck".take_probe_slots(/*attachment*/'native', v_queue, v_probes::text[]) + 1:];
    ids := array(select id from pg_catalog.unnest(ids) id where id <> all (v_probes));
    slots := jsonb_set(slots, array[v_queue], '0');
  end loop;
end
$$;
