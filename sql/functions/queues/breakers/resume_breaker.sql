-- Ends a hold and closes an open breaker, so that jobs of the dependency are claimed again.
create or replace function "unstuck".resume_breaker(
  p_name text, p_actor text default null, p_reason text default null)
returns setof "unstuck".breaker_status language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_breaker "unstuck".breakers := "unstuck".lock_breaker(p_name);
  v_now timestamptz := clock_timestamp();
begin
  if v_breaker.is_open or v_breaker.held_at is not null then
    perform "unstuck".close_breaker(p_name);
    update "unstuck".breakers
       set held_at = null, held_until = null, reopens = 0, closed_at = null, changed_at = v_now,
           changed_by = p_actor, reason = p_reason
     where name = p_name;
    perform "unstuck".record_audit_entry(null, 'breaker-resumed', p_name, p_actor, p_reason);
  end if;
  return query select * from "unstuck".list_breakers(p_name);
end
$$;
