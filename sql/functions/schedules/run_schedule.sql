-- Enqueues the job of the occurrence p_due_at, once, and advances the schedule to p_next_run_at (NULL: none is left).
-- Any number of callers may try: they contend for the row of the schedule, and only the first finds p_due_at in it.
create or replace function "unstuck"."run_schedule"(
  p_name text, p_due_at timestamptz, p_next_run_at timestamptz, p_policy jsonb default null)
returns table (outcome text, job_id text) language plpgsql as $$
declare
  v_now timestamptz;
  v_schedule "unstuck".schedules;
  v_enqueued "unstuck".job_outcome;
  v_is_new boolean;
begin
  perform "unstuck".require_schedule_name(p_name);
  perform "unstuck".require(isfinite(p_due_at), 'due_at', p_due_at::text, 'a time');
  -- Otherwise the same occurrence could come twice.
  perform "unstuck".require(
    p_next_run_at is null or isfinite(p_next_run_at) and p_next_run_at::timestamptz(3) > p_due_at,
    'next_run_at', p_next_run_at::text, 'a time after due_at, or NULL');
  select * into v_schedule from "unstuck".schedules schedule
   where schedule.attachment = /*attachment*/'native' and schedule.name = p_name
     for no key update;
  v_now := clock_timestamp();
  outcome := case when v_schedule.name is null then 'not-found'
                  when v_schedule.next_run_at is distinct from p_due_at then 'taken'
                  when v_schedule.next_run_at > v_now then 'not-due' end;
  if outcome is null then
    select * into v_enqueued from "unstuck"."enqueue_jobs"(jsonb_build_array(
      case v_schedule.overlap when 'allow' then v_schedule.job
           else v_schedule.job || jsonb_build_object('dedupe_key', 'schedule:' || p_name) end), p_policy);
    v_is_new := v_enqueued.outcome = 'created';
    outcome := case when v_is_new then 'enqueued' else 'skipped' end;
    job_id := v_enqueued.id;
    update "unstuck".schedules schedule
       set next_run_at = p_next_run_at,
           last_run_at = case when v_is_new then v_now else schedule.last_run_at end,
           last_job_id = case when v_is_new then v_enqueued.id else schedule.last_job_id end,
           last_skipped_at = case when v_is_new then schedule.last_skipped_at else v_now end
     where schedule.attachment = /*attachment*/'native' and schedule.name = p_name;
  end if;
  return next;
end
$$;
