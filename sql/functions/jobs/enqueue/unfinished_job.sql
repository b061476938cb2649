-- Private: the job whose dedupe key stood in the way of another. It may have ended since; then the newest one that had
-- the key. Where there is none, another unique constraint of the team's table refused the job.
create or replace function "unstuck"."unfinished_job"(p_type text, p_dedupe_key text)
returns /*id*/uuid language plpgsql as $$
declare
  v_id /*id*/uuid;
begin
  select job."id" into v_id from "unstuck"."jobs" job
   where job."type"::text = p_type and job."dedupe_key"::text = p_dedupe_key
     and job."status" in /*unfinished_words*/('waiting', 'running')
   -- The table's own rows may share a key, where the profile does not call it unique.
   order by job."created_at", job."id" limit 1;
  if v_id is null then
    select job."id" into v_id from "unstuck"."jobs" job
     where job."dedupe_key"::text = p_dedupe_key order by job."type"::text = p_type desc, job."created_at" desc limit 1;
  end if;
  if v_id is null then
    raise exception using
      errcode = 'UN001',
      message = format('job of type %s: got a row that a unique constraint of %s refuses, takes one that is new to it',
                       p_type, /*table*/'jobs');
  end if;
  return v_id;
end
$$;
