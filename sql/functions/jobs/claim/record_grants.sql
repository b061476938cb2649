-- Private: the events of claimed jobs: of all if the policy says so, else of those that were reaped before.
create or replace function "unstuck"."record_grants"(
  p_at timestamptz, p_worker_id text, p_lease_id uuid, p_default_stage text, p_actor text, p_jobs json)
returns int language plpgsql as $$
declare
  v_events "unstuck".new_event[];
begin
  select array_agg(row(job ->> 'id', 'processing', jsonb_build_object(
           'worker_id', p_worker_id, 'attempt', job -> 'attempt', 'fence', job -> 'fence', 'lease_id', p_lease_id,
           'stage', coalesce(job -> 'other' ->> 'stage', p_default_stage, job ->> 'type'),
           'rescued_after_ms', "unstuck".ms_between((job -> 'other' ->> 'reaped_at')::timestamptz, p_at))
           || "unstuck".acted_by(p_actor))::"unstuck".new_event order by ordinal)
    into v_events
    from json_array_elements(p_jobs) with ordinality granted(job, ordinal);
  return "unstuck"."record_events"(p_at, v_events);
end
$$;
