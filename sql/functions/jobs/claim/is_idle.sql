-- Private: does no job run under the name of this worker?
create or replace function "unstuck"."is_idle"(p_worker_id text)
returns boolean language plpgsql stable set enable_seqscan = off as $$
begin
  return not exists (select from "unstuck"."jobs" job
                      where job."status" in /*running_words*/('running') and job."worker_id"::text = p_worker_id);
end
$$;
