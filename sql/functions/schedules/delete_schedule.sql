-- Deletes a schedule. Its jobs stay. Returns false if there was none.
create or replace function "unstuck"."delete_schedule"(p_name text)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".require_schedule_name(p_name);
  delete from "unstuck".schedules where attachment = /*attachment*/'native' and name = p_name;
  return found;
end
$$;
