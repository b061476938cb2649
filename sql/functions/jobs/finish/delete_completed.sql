-- Private: complete_jobs for types whose completed jobs are not kept: deletes their rows (docs/adr/0033). The same
-- fenced write: one statement that visits its rows in the order of their ids (C12). Takes the checked arguments of
-- complete_jobs; p_lease_id is the lease if it is the same for all. Returns the deleted jobs and their leases.
create or replace function "unstuck"."delete_completed"(
  p_ids /*id*/uuid[], p_lease_ids uuid[], p_lease_id uuid, p_results jsonb, p_actor text, p_policy "unstuck".policies,
  p_now timestamptz, out ids /*id*/uuid[], out lease_ids uuid[]
) language plpgsql as $$
declare
  v_ids /*id*/uuid[] := p_ids;
  v_has_kept boolean;
  v_type text;
  v_attempts int[];
  v_events "unstuck".new_event[];
begin
  if p_policy.type_keep_completed::jsonb <> '{}'::jsonb then
    -- A plain read: the type of a job never changes.
    select array_agg(job."id") filter (where not "unstuck".keeps_completed(
             p_policy.keep_completed, p_policy.type_keep_completed, job."type"::text)),
           count(*) filter (where "unstuck".keeps_completed(
             p_policy.keep_completed, p_policy.type_keep_completed, job."type"::text)) > 0
      into v_ids, v_has_kept
      from "unstuck"."jobs" job where job."id" = any (p_ids);
    if v_ids is null then
      return;
    elsif v_has_kept then
      -- Two statements follow, this delete and the update of the caller: all rows are locked in one order first (C12).
      perform from "unstuck"."jobs" job
        where job."id" = any (p_ids) and job."lease_id" = any (p_lease_ids)
          and job."status" is not distinct from /*any_running*/'running'
        order by job."id" for update;
    end if;
  end if;
  if p_results is not null then
    select job."type"::text into v_type from "unstuck"."jobs" job
     where job."id" = any (v_ids)
       and jsonb_typeof(p_results -> (job."id"::text || ' ' || job."lease_id"::text)) <> 'null' limit 1;
    perform "unstuck".require(v_type is null, 'results', 'a result of type ' || v_type,
                              'none if keep_completed is false: the result would be deleted with the row');
  end if;
  with gone as (
    delete from "unstuck"."jobs" job
     where job."id" = any (v_ids)
       and (job."lease_id" = p_lease_id
            or p_lease_id is null
               and (job."id"::/*id*/uuid, job."lease_id") in (select * from unnest(p_ids, p_lease_ids)))
       and job."status" is not distinct from /*any_running*/'running'
    returning job."id", job."lease_id", job."attempt"
  )
  select array_agg(gone."id"), array_agg(gone."lease_id"), array_agg(gone."attempt") into ids, lease_ids, v_attempts
    from gone;
  -- A job that has events gets a last one: it says how the job ended, and retention finds the others by it.
  select array_agg(row(done.id::text, 'complete', jsonb_build_object('attempt', done.attempt, 'is_deleted', true)
                         || "unstuck".acted_by(p_actor))::"unstuck".new_event)
    into v_events
    from unnest(ids, v_attempts) done(id, attempt)
   where p_policy.events = 'all'
      or exists (select from "unstuck".events event
                  where event.attachment = /*attachment*/'native' and event.job_id = done.id::text);
  perform "unstuck"."record_events"(p_now, v_events);
end
$$;
