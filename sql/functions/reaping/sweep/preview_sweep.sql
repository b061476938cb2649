-- The actions of a manual sweep now: the same verdicts, no lock, no write.
create or replace function "unstuck"."preview_sweep"(p_limit int default 1000, p_policy jsonb default null)
returns setof "unstuck".reaped_job language plpgsql stable as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
begin
  perform "unstuck".require(p_limit between 1 and 10000, 'limit', p_limit::text, 'a whole number from 1 to 10000');
  perform "unstuck".require_visible(to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs')));
  return query
  select running.id::text, verdict.action,
         "unstuck".reap_reason(running.is_timeout, coalesce(running.ended_at >= now(), true)),
         running.stage, "unstuck".reaped_attempt(v_policy, verdict.action, running.attempt, running.max_attempts),
         running.worker_id,
         case when verdict.action = 'requeued'
              then "unstuck".reap_backoff_ms(v_policy, running.attempt, running.failures, running.crashes,
                                             running.timeouts)::float8 end
    from "unstuck"."running_jobs"(v_policy) running
    left join "unstuck".gone_workers(/*attachment*/'native') gone
           on gone.worker_id = running.worker_id and running.seen_at < gone.vanished_at and v_policy.presence <> 'off',
         lateral (select "unstuck".reap_verdict(
           v_policy, running.is_cancelled, running.is_timeout, running.attempt, running.failures, running.crashes,
           running.timeouts, running.max_attempts) as action) verdict
   where running.ended_at < now() or gone.worker_id is not null
   order by running.id limit p_limit;
  return query select * from "unstuck"."unjudged_jobs"(v_policy, p_limit);
end
$$;
