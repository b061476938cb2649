-- Reaped jobs, newest first, each with the claim that followed, from the events of the table. p_before is the next of
-- an earlier page. One call reads 5000 reaps, so a filtered page may be short or empty and still have a next.
create or replace function "unstuck"."list_reclaims"(
  p_worker_id text default null, p_stage text default null, p_before bigint default null, p_limit int default 100)
returns jsonb language plpgsql stable as $$
declare
  v_has_filter boolean := p_worker_id is not null or p_stage is not null;
  v_looked int := case when v_has_filter then 5000 else p_limit end;
  v_page jsonb;
begin
  perform "unstuck".require(p_limit between 1 and 1000, 'limit', p_limit::text, 'a whole number from 1 to 1000');
  with looked as materialized (
    select event.id, event.job_id, event.type, event.at, event.data, event.data -> 'details' as details
      from "unstuck".events event
     where event.attachment = /*attachment*/'native'
       and event.type in ('reaper:requeued', 'reaper:failed(timeout)', 'reaper:cancelled')
       and event.id < coalesce(p_before, 9223372036854775807)
     order by event.id desc limit v_looked
  ), fit as materialized (
    select * from looked
     where (p_worker_id is null or details ->> 'locked_by' = p_worker_id)
       and (p_stage is null or details ->> 'stage' = p_stage)
     order by id desc limit p_limit
  )
  select jsonb_build_object(
           'reclaims', coalesce(jsonb_agg(jsonb_build_object(
             'id', fit.id::text, 'job_id', fit.job_id, 'type', job."type", 'stage', fit.details ->> 'stage',
             'attempt', fit.details -> 'attempt', 'worker_id', fit.details ->> 'locked_by',
             'reaped_at', "unstuck".iso_utc(fit.at),
             'action', case fit.type when 'reaper:requeued' then 'requeued' when 'reaper:cancelled' then 'cancelled'
                                     else 'dead' end,
             'reason', fit.details ->> 'reason', 'last_heartbeat_at', fit.details ->> 'last_heartbeat_at',
             'lease_expires_at', fit.details ->> 'lease_expires_at', 'next_run_at', fit.details ->> 'next_run_at',
             -- The lease of a worker that is gone had not ended.
             'lateness_ms', case when fit.details ->> 'reason' is distinct from 'worker_gone'
               then "unstuck".ms_between((fit.details ->> 'lease_expires_at')::timestamptz,
                                         (fit.data ->> 'at')::timestamptz) end,
             'dark_ms', claim.after_ms + "unstuck".ms_between((fit.details ->> 'last_heartbeat_at')::timestamptz,
                                                              (fit.data ->> 'at')::timestamptz),
             'claimed_again_at', "unstuck".iso_utc(claim.at), 'claimed_by', claim.worker_id)
             order by fit.id desc), '[]'),
           'next', case when count(*) = p_limit then min(fit.id)::text
                        else (select min(id)::text from looked having count(*) = v_looked) end)
    into v_page
    from fit
    left join "unstuck"."jobs" job on job."id" = fit.job_id::/*id*/uuid
    left join lateral (
      select later.at, later.data #>> '{details,worker_id}' as worker_id,
             (later.data #>> '{details,rescued_after_ms}')::float8 as after_ms
        from "unstuck".events later
       where later.attachment = /*attachment*/'native' and later.job_id = fit.job_id and later.id > fit.id
         and later.type = 'processing'
       order by later.id limit 1) claim on fit.type = 'reaper:requeued' and claim.after_ms is not null;
  return v_page;
end
$$;
