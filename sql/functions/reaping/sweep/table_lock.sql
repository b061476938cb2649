-- Private: takes the table lock that every heartbeat takes: 'free' if granted at once, 'late' after a moment, 'locked'
-- if not. Nobody can renew then, and no sweep waits for it (C26). A role without the privilege to lock the table
-- cannot tell. Citus would take the lock on every node, and fail if one is down.
create or replace function "unstuck"."lock_table"()
returns text language plpgsql set lock_timeout = '200ms' /*+distributed set citus.enable_ddl_propagation = off */ as $$
begin
  lock table "unstuck"."jobs" in row exclusive mode nowait;
  return 'free';
exception
  when insufficient_privilege then
    return 'free';
  when lock_not_available then
    begin
      lock table "unstuck"."jobs" in row exclusive mode;
      return 'late';
    exception when lock_not_available then
      return 'locked';
    end;
end
$$;

-- Private: the step of a sweep that found the table locked. Records since when it may have been: the last sweep that
-- got through. Judges nothing, and records no heartbeat.
create or replace function "unstuck"."record_table_lock"(p_now timestamptz)
returns json language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform 1 from "unstuck".sweeps where attachment = /*attachment*/'native' for update skip locked;
  if found then
    update "unstuck".sweeps set locked_since = coalesce(locked_since, swept_at, p_now)
     where attachment = /*attachment*/'native';
  end if;
  return "unstuck".empty_step(p_now, 'table-locked', false);
end
$$;
