-- Running jobs past their lease, longest first, and those that nobody can judge, each with the reason why it was not
-- reaped yet; p_is_twice: only those past twice their lease. Takes no locks, or sweeps would skip the rows; names the
-- holder of a row lock if it is certain. count is the total, on every row.
create or replace function "unstuck"."list_stale_jobs"(
  p_is_twice boolean default false, p_limit int default 100, p_policy jsonb default null)
returns table (id text, type text, stage text, worker_id text, attempt int, heartbeat_at timestamptz,
               ended_at timestamptz, overdue_ms float8, lease_ms float8, is_past_twice_lease boolean, code text,
               locked_by jsonb, reaper_age_ms float8, count int)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native', p_policy);
  v_last "unstuck".sweeps;
  v_page record;
begin
  perform "unstuck".require(p_limit between 1 and 1000, 'limit', p_limit::text, 'a whole number from 1 to 1000');
  perform "unstuck".require_visible(to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs')));
  select * into v_last from "unstuck".sweeps where attachment = /*attachment*/'native';
  for v_page in
    with stale as materialized (
      select running.*, coalesce("unstuck".after_ms(running.ended_at, running.lease_ms) < now(), false) as is_twice
        from "unstuck"."running_jobs"(v_policy) running
       where running.ended_at < now() or running.ended_at is null
    )
    select stale.*, (count(*) over ())::int as all_of_them from stale where stale.is_twice or not p_is_twice
     order by stale.ended_at, stale.id limit p_limit
  loop
    select job."type"::text, case when holder.pid is not null then jsonb_build_object(
             'pid', holder.pid, 'application', nullif(activity.application_name, ''), 'state', activity.state,
             'open_ms', "unstuck".ms_between(activity.xact_start, clock_timestamp())) end
      into type, locked_by
      from "unstuck"."jobs" job
      left join lateral (
        select lock.pid from pg_locks lock
         where lock.locktype = 'transactionid' and lock.granted and lock.transactionid = job.xmax
           and exists (select from pg_locks held where held.locktype = 'relation' and held.granted
                          and held.pid = lock.pid and held.relation = job.tableoid)
         limit 1) holder on true
      left join pg_stat_activity activity on activity.pid = holder.pid
     where job."id" = v_page.id;
    continue when not found;
    id := v_page.id::text; stage := v_page.stage; worker_id := v_page.worker_id; attempt := coalesce(v_page.attempt, 0);
    heartbeat_at := v_page.heartbeat_at; ended_at := v_page.ended_at;
    overdue_ms := "unstuck".ms_between(v_page.ended_at, now()); lease_ms := v_page.lease_ms::float8;
    is_past_twice_lease := v_page.is_twice;
    code := case
      when v_page.ended_at is null then
        case when v_policy.legacy_age_rule and v_page.sign_at is not null then 'TYPE_WITHOUT_TTL'
             else 'LEASE_UNKNOWN' end
      when locked_by is not null then 'ROW_LOCKED'
      when "unstuck".is_held(v_last.outage_from, v_last.outage_to, v_page.ended_at, v_page.heartbeat_at,
                             v_page.lease_ms) then 'HELD'
      when v_policy.is_observed then 'OBSERVED'
      when v_last.swept_at is null
        or v_last.swept_at < "unstuck".after_ms(now(), -3 * v_policy.sweep_interval_ms) then 'NO_REAPER'
      else 'LEASE_OVER_AWAITING_REAPER' end;
    reaper_age_ms := "unstuck".ms_between(v_last.swept_at, now()); count := v_page.all_of_them;
    return next;
  end loop;
end
$$;
