-- Private: outcomes of the first 20 jobs that a redrive requeued, or of the whole canary. A retry clears error and
-- crashes, so any present now are new, and there is no need to wait until the job is dead again. A job that its
-- completion deleted has an event that says so. Jobs pruned or discarded since do not count.
create or replace function "unstuck"."watch_operation"(p_operation "unstuck".operations)
returns table (sample int, succeeded int, failed int) language sql stable as $$
  select count(*)::int, (count(*) filter (where watched.is_succeeded))::int,
         (count(*) filter (where watched.is_failed))::int
    from (select each.job_id from "unstuck".operation_jobs each
           where each.operation_id = p_operation.id and each.outcome = 'retried' and p_operation.action = 'redrive'
           order by each.position limit greatest(20, p_operation.canary)) sample,
         lateral (
           select bool_or(job."status" = /*succeeded*/'succeeded') or exists (
                    select from "unstuck".events event
                     where event.attachment = /*attachment*/'native' and event.job_id = sample.job_id
                       and event.type = 'complete' and event.data #> '{details,is_deleted}' is not null)
                    as is_succeeded,
                  bool_or(job."status" <> /*succeeded*/'succeeded' and job."status" <> /*cancelled*/'cancelled' and (
                    job."status" = /*dead*/'dead' or coalesce(job."crashes", 0) + coalesce(job."timeouts", 0) > 0
                    or num_nonnulls(job."error_code", job."error_reason", job."error_category", job."error_stack",
                                    job."error_attempt") > 0)
                    -- If dead and cancelled share a status word, the code decides.
                    or job."status" = /*dead*/'dead' and job."error_code"::text is distinct from 'cancelled')
                    as is_failed
             from "unstuck"."jobs" job where job."id" = sample.job_id::/*id*/uuid) watched
$$;
