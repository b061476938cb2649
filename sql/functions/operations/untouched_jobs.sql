-- Private: those of p_ids that are as they were at p_as_of, as far as the action is concerned: a job that died again
-- since is not brought back, one that anybody changed since is not deleted, one that was created since is not known.
create or replace function "unstuck"."untouched_jobs"(p_action text, p_as_of timestamptz, p_ids /*id*/uuid[])
returns /*id*/uuid[] language sql stable set enable_seqscan = off as $$
  select array(
    select job."id" from "unstuck"."jobs" job
     where job."id" = any (p_ids)
       and coalesce(p_as_of >= case
             when p_action in ('retry', 'redrive') then coalesce(job."finished_at", job."updated_at", job."created_at")
             when p_action = 'discard' then greatest(job."finished_at", job."updated_at", job."created_at")
             else job."created_at" end, true)
       and (p_action <> 'discard' or job."status" not in /*running_words*/('running'))
     order by job."id")
$$;
