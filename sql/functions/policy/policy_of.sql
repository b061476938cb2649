-- The effective policy of a call: the stored row with the caller's overrides. Maps are merged key by key.
create or replace function "unstuck".policy_of(p_attachment text, p_override jsonb default null)
returns "unstuck".policies language plpgsql stable as $$
declare
  v_stored "unstuck".policies;
  v_known jsonb;
  v_policy "unstuck".policies;
begin
  select * into v_stored from "unstuck".policies where attachment = p_attachment;
  if not found then
    raise exception using errcode = 'UN002', message = format('nothing is attached under the name %s', p_attachment);
  end if;
  if p_override is null then
    return v_stored;
  end if;

  perform "unstuck".require(jsonb_typeof(p_override) = 'object', 'policy', p_override::text, 'an object');
  -- A whole row, as read, may be written back.
  p_override := p_override - array['attachment', 'is_observed'];
  v_known := to_jsonb(v_stored);
  -- Not checked by the domains: unknown names, nulls, and numbers as text.
  if exists (select from jsonb_each(p_override) given
              where jsonb_typeof(given.value) is distinct from jsonb_typeof(v_known -> given.key)
                and (given.key <> 'default_stage' or jsonb_typeof(given.value) not in ('string', 'null'))) then
    perform "unstuck".require_policy(v_stored, p_override);
  end if;
  begin
    v_policy := jsonb_populate_record(v_stored, p_override || coalesce(
      (select jsonb_object_agg(map, (v_known -> map) || (p_override -> map))
         from pg_catalog.unnest(array['stage_leases_ms', 'stage_factors', 'stage_deadlines_ms', 'type_runtimes_ms',
                                      'type_keep_completed']) map
        where p_override ? map), '{}'));
  exception when data_exception or integrity_constraint_violation then
    perform "unstuck".require_policy(v_stored, p_override);
    raise;
  end;
  perform "unstuck".require(
    v_policy.reap_budget <> 'attempts' or v_policy.attempt_counted_at <> 'failure',
    'reap_budget', v_policy.reap_budget, 'crashes where attempts are counted at failure: a crash would never count');
  perform "unstuck".require(
    p_attachment = 'native' or v_policy.keep_completed and v_policy.type_keep_completed::jsonb = '{}'::jsonb,
    'keep_completed', 'false', 'true for attached tables: a completion never deletes their rows');
  return v_policy;
end
$$;
