-- The jobs of an operation in processing order, after p_after: what it did to each, and where the job is now: a status
-- in the words of the native table, or deleted.
create or replace function "unstuck"."list_changed_jobs"(p_id uuid, p_after int default 0, p_limit int default 100)
returns table (job_id text, place int, outcome text, status text) language plpgsql stable as $$
begin
  perform "unstuck".require(p_limit between 1 and 10000, 'limit', p_limit::text, 'a whole number from 1 to 10000');
  return query
  select each.job_id, each.position, each.outcome,
         case when job."id" is not null then
                case when job."status" = /*waiting*/'waiting' then 'waiting'
                     when job."status" in /*running_words*/('running') then 'running'
                     when job."status" = /*succeeded*/'succeeded' then 'succeeded'
                     -- If dead and cancelled share a status word, the code decides.
                     when job."error_code"::text = 'cancelled' then 'cancelled'
                     when job."status" = /*dead*/'dead' then 'dead' else 'cancelled' end
              -- A job that its completion deleted has an event that says so.
              when exists (select from "unstuck".events event
                            where event.attachment = /*attachment*/'native' and event.job_id = each.job_id
                              and event.type = 'complete' and event.data #> '{details,is_deleted}' is not null)
                then 'succeeded'
              else 'deleted' end
    from "unstuck".operation_jobs each
    join "unstuck".operations operation on operation.id = each.operation_id
    left join "unstuck"."jobs" job on job."id" = each.job_id::/*id*/uuid
   where each.operation_id = p_id and operation.attachment = /*attachment*/'native' and each.position > p_after
   order by each.position limit p_limit;
end
$$;
