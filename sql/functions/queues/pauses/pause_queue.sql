-- Keeps jobs of a queue from being claimed, for p_duration_ms or until resumed. Running jobs continue. Returns whether
-- it was not paused before; a second pause replaces the first.
create or replace function "unstuck"."pause_queue"(
  p_queue text, p_duration_ms bigint default null, p_actor text default null, p_reason text default null)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_is_new boolean;
begin
  perform "unstuck".require_queue(p_queue);
  perform "unstuck".require(coalesce(p_duration_ms, 1) between 1 and 31536000000, 'duration_ms', p_duration_ms::text,
                            'milliseconds from 1 to one year');
  select count(*) = 0 into v_is_new from "unstuck".pauses
   where attachment = /*attachment*/'native' and queue = p_queue and coalesce(paused_until > v_now, true);
  insert into "unstuck".pauses as known (attachment, queue, paused_at, paused_until, paused_by, reason)
  values (/*attachment*/'native', p_queue, v_now, "unstuck".after_ms(v_now, p_duration_ms), p_actor, p_reason)
  on conflict (attachment, queue) do update
     set paused_at = case when v_is_new then v_now else known.paused_at end, paused_until = excluded.paused_until,
         paused_by = excluded.paused_by, reason = excluded.reason;
  perform "unstuck".record_audit_entry(/*attachment*/'native', 'queue-paused', p_queue, p_actor, p_reason,
                                       jsonb_build_object('duration_ms', p_duration_ms));
  return v_is_new;
end
$$;
