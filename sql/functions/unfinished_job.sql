-- The job that has a dedupe key. It may have ended since its key stood in the way; then the newest one that had it.
create or replace function "unstuck"."unfinished_job"(p_type text, p_dedupe_key text)
returns /*id*/uuid language plpgsql as $$
declare
  v_id /*id*/uuid;
begin
  select job."id" into v_id from "unstuck"."jobs" job
   where job."type" = p_type and job."dedupe_key" = p_dedupe_key
     and job."status" in /*unfinished_words*/('waiting', 'running');
  if v_id is null then
    select job."id" into v_id from "unstuck"."jobs" job
     where job."dedupe_key" = p_dedupe_key order by job."created_at" desc limit 1;
  end if;
  return v_id;
end
$$;
