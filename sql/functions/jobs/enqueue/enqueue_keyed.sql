-- Private: enqueues jobs of which some have a dedupe key, or that the table may refuse. Returns the inserted ids, the
-- queue of each job that became due or will, and by position the id and the outcome of each; no outcomes if all jobs
-- were created.
create or replace function "unstuck"."enqueue_keyed"(
  p_shared jsonb, p_payloads jsonb, p_jobs jsonb, p_ids /*id*/uuid[], p_now timestamptz, p_max_attempts int,
  out created /*id*/uuid[], out queues text[], out delays_ms float8[], out ids text[], out outcomes text[])
language plpgsql as $$
declare
  v_windows jsonb; v_replaced jsonb; v_settled int[]; v_queues text[]; v_delays_ms float8[];
begin
  if p_shared ? 'dedupe_for_ms' or jsonb_path_exists(p_jobs, '$[*].dedupe_for_ms') then
    v_windows := "unstuck".take_windows(
      /*attachment*/'native', p_shared, p_payloads, p_jobs, p_ids::text[], p_now);
  end if;
  if p_shared ? 'dedupe_replace' or jsonb_path_exists(p_jobs, '$[*].dedupe_replace') then
    select * into v_replaced, v_queues, v_delays_ms
      from "unstuck"."replace_jobs"(p_shared, p_payloads, p_jobs, p_now, p_max_attempts);
  end if;
  v_settled := array(select key::int
                       from jsonb_object_keys(coalesce(v_windows, '{}') || coalesce(v_replaced, '{}')) key);
  select inserted.created, inserted.queues, inserted.delays_ms into created, queues, delays_ms
    from "unstuck"."insert_jobs"(p_shared, p_payloads, p_jobs, p_ids, p_now, p_max_attempts, v_settled) inserted;
  if coalesce(cardinality(created), 0) = cardinality(p_ids) then
    return;
  end if;
  queues := array_cat(queues, v_queues);
  delays_ms := array_cat(delays_ms, v_delays_ms);
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
