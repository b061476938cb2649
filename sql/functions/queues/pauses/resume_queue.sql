-- Ends the pause of a queue. Returns whether it was paused.
create or replace function "unstuck"."resume_queue"(
  p_queue text, p_actor text default null, p_reason text default null)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_paused_until timestamptz;
  v_was_paused boolean;
begin
  perform "unstuck".require_queue(p_queue);
  delete from "unstuck".pauses where attachment = /*attachment*/'native' and queue = p_queue
  returning paused_until into v_paused_until;
  v_was_paused := found and coalesce(v_paused_until > clock_timestamp(), true);
  if v_was_paused then
    perform "unstuck".record_audit_entry(/*attachment*/'native', 'queue-resumed', p_queue, p_actor, p_reason);
    perform "unstuck".send_hint("unstuck".policy_of(/*attachment*/'native'));
  end if;
  return v_was_paused;
end
$$;
