-- Private: takes the lock on the table that every heartbeat takes: 'free' if it came at once, 'late' if it came after a
-- moment, 'locked' if it did not. Then nobody can renew, and no sweep waits for it (C26). A role that may not lock the
-- table cannot tell.
create or replace function "unstuck"."lock_table"()
returns text language plpgsql set lock_timeout = '200ms' as $$
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
