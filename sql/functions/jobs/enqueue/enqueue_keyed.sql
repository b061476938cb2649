-- Private: enqueues jobs of which some have a dedupe key, or that the table may refuse. Returns the inserted ids, the
-- queue of each job that became due or will, and by position the id and the outcome of each; no outcomes if all jobs
-- were created.
create or replace function "unstuck"."enqueue_keyed"(
  p_shared jsonb, p_payloads jsonb, p_jobs jsonb, p_ids /*id*/uuid[], p_now timestamptz, p_max_attempts int,
  out created /*id*/uuid[], out queues text[], out delays_ms float8[], out ids text[], out outcomes text[])
language plpgsql as $$
declare
  v_replaces boolean := p_shared ? 'dedupe_replace' or jsonb_path_exists(p_jobs, '$[*].dedupe_replace');
  v_windows jsonb; v_replaced jsonb; v_change record; v_settled int[];
  v_missed int[]; -- Neither inserted nor replaced yet; NULL for all.
begin
  if p_shared ? 'dedupe_for_ms' or jsonb_path_exists(p_jobs, '$[*].dedupe_for_ms') then
    v_windows := "unstuck".take_windows(
      /*attachment*/'native', p_shared, p_payloads, p_jobs, p_ids::text[], p_now);
  end if;
  -- A job that came back, or was enqueued, between the two statements has the key again: it is replaced by the next
  -- look. Bounded, because a unique constraint of the team may refuse the row for ever.
  for v_look in 1 .. 5 loop
    if v_replaces then
      v_change := "unstuck"."replace_jobs"(p_shared, p_payloads, p_jobs, p_now, p_max_attempts, v_missed);
      v_replaced := coalesce(v_replaced, '{}') || coalesce(v_change.replaced, '{}');
      queues := array_cat(queues, v_change.queues); delays_ms := array_cat(delays_ms, v_change.delays_ms);
    end if;
    v_settled := array(select place from pg_catalog.generate_series(1, cardinality(p_ids)) place
                        where v_windows ? place::text or v_replaced ? place::text or place <> all (v_missed));
    v_change := "unstuck"."insert_jobs"(
      p_shared, p_payloads, p_jobs, p_ids, p_now, p_max_attempts, v_settled);
    created := array_cat(created, v_change.created);
    queues := array_cat(queues, v_change.queues); delays_ms := array_cat(delays_ms, v_change.delays_ms);
    exit when not v_replaces;
    v_missed := array(select asked.place from "unstuck".new_jobs(p_shared, p_payloads, p_jobs, p_now, null) asked
                       where asked.dedupe_replace and (v_replaced ? asked.place::text) is not true
                         and p_ids[asked.place] not in (select id from pg_catalog.unnest(created) id));
    exit when cardinality(v_missed) = 0;
  end loop;
  if coalesce(cardinality(created), 0) = cardinality(p_ids) then
    return;
  end if;
  perform "unstuck".return_windows(
    /*attachment*/'native', p_shared, p_payloads, p_jobs, p_ids::text[], created::text[]) where v_windows is not null;
  select array_agg(coalesce(made.id::text, v_windows ->> asked.place::text, v_replaced ->> asked.place::text,
                            "unstuck"."unfinished_job"(asked.type, asked.dedupe_key)::text) order by asked.place),
         array_agg(case when made.id is not null then 'created' when v_replaced ? asked.place::text then 'replaced'
                        else 'duplicate' end order by asked.place)
    into ids, outcomes
    from "unstuck".new_jobs(p_shared, p_payloads, p_jobs, p_now, null) asked
    left join pg_catalog.unnest(created) made(id) on made.id = p_ids[asked.place];
end
$$;
