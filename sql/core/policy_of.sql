-- The policy in force for a call: the stored row, with what the caller overrides. Maps are merged key by key.
create or replace function "unstuck".policy_of(p_attachment text, p_override jsonb default null)
returns "unstuck".policies language plpgsql stable as $$
declare
  v_policy "unstuck".policies;
  v_stray text;
begin
  select * into v_policy from "unstuck".policies where attachment = p_attachment;
  if not found then
    raise exception using errcode = 'UN002', message = format('nothing is attached under the name %s', p_attachment);
  end if;
  if p_override is null then
    return v_policy;
  end if;

  perform "unstuck".require(jsonb_typeof(p_override) = 'object', 'policy', p_override::text, 'an object');
  select key into v_stray from jsonb_object_keys(p_override - 'attachment') key
   where not to_jsonb(v_policy) ? key limit 1;
  perform "unstuck".require(v_stray is null, 'policy', v_stray, 'the column names of the policies table');
  p_override := p_override
    || jsonb_build_object('attachment', p_attachment)
    || coalesce((select jsonb_object_agg(map, (to_jsonb(v_policy) -> map) || (p_override -> map))
                   from unnest(array['stage_leases_ms', 'stage_factors', 'stage_deadlines_ms']) map
                  where jsonb_typeof(p_override -> map) = 'object'), '{}');
  begin
    v_policy := jsonb_populate_record(v_policy, p_override);
  exception when others then
    raise exception using errcode = 'UN001', message = format('policy: %s', sqlerrm);
  end;
  perform "unstuck".require(
    v_policy.attempt_counted_at in ('claim', 'failure', 'failure-and-reap')
      and v_policy.failure_budget in ('attempts', 'failures')
      and v_policy.reap_budget in ('attempts', 'crashes')
      and v_policy.events in ('recovery', 'all')
      and v_policy.requeue_rate_per_s between 0 and 1000000
      and v_policy.retention_days between 1 and 3650
      and v_policy.legacy_age_rule is not null,
    'policy', p_override::text, 'the words and ranges of the policies table');
  perform "unstuck".require(
    v_policy.reap_budget <> 'attempts' or v_policy.attempt_counted_at <> 'failure',
    'reap_budget', v_policy.reap_budget, 'crashes where attempts are counted at failure: a crash would never count');
  return v_policy;
end
$$;
