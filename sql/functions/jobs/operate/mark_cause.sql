-- Sets the triage state of a cause of dead letters. The state new deletes its row.
create or replace function "unstuck".mark_cause(
  p_attachment text, p_cause_id text, p_state text, p_actor text default null, p_reason text default null)
returns text language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".require(length(p_cause_id) between 1 and 64, 'cause_id', p_cause_id, '1 to 64 characters');
  perform "unstuck".require(p_state in ('new', 'investigating', 'resolved', 'ignored'), 'state', p_state,
                            'new, investigating, resolved or ignored');
  perform "unstuck".policy_of(p_attachment);
  if p_state = 'new' then
    delete from "unstuck".causes where attachment = p_attachment and cause_id = p_cause_id;
  else
    insert into "unstuck".causes as cause (attachment, cause_id, state, changed_at, changed_by, reason)
    values (p_attachment, p_cause_id, p_state, clock_timestamp(), p_actor, p_reason)
    on conflict (attachment, cause_id) do update
       set state = excluded.state, changed_at = excluded.changed_at, changed_by = excluded.changed_by,
           reason = excluded.reason;
  end if;
  perform "unstuck".record_audit_entry(p_attachment, 'cause-marked', p_cause_id, p_actor, p_reason,
                                       jsonb_build_object('state', p_state));
  return p_state;
end
$$;
