-- Keeps jobs of a dependency from being claimed, for p_duration_ms or until resumed. Calls and probes are still
-- recorded.
create or replace function "unstuck".hold_breaker(
  p_name text, p_duration_ms bigint default null, p_actor text default null, p_reason text default null)
returns setof "unstuck".breaker_status language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz;
begin
  perform "unstuck".require(coalesce(p_duration_ms, 1) between 1 and 31536000000, 'duration_ms', p_duration_ms::text,
                            'milliseconds from 1 to one year');
  perform "unstuck".lock_breaker(p_name);
  v_now := clock_timestamp();
  update "unstuck".breakers
     set held_at = v_now, held_until = "unstuck".after_ms(v_now, p_duration_ms), changed_at = v_now,
         changed_by = p_actor, reason = p_reason
   where name = p_name;
  perform "unstuck".record_audit_entry(null, 'breaker-held', p_name, p_actor, p_reason,
                                       jsonb_build_object('duration_ms', p_duration_ms));
  return query select * from "unstuck".list_breakers(p_name);
end
$$;
