-- Private: ends waits of a process.
create or replace function "unstuck".end_waits(p_attachment text, p_job_ids text[], p_channel int)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from "unstuck".waits
   where attachment = p_attachment and job_id = any (p_job_ids) and channel = p_channel;
  return found;
end
$$;
