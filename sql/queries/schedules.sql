-- Recurring jobs.

-- name: write_schedule
select to_jsonb(schedule) as record
  from "unstuck"."write_schedule"(
         $1::text, $2::text, $3::text, ($4::text)::jsonb, $5::text::timestamptz, $6::text) schedule;

-- name: delete_schedule
-- With the audit entry of a person's change, in its transaction.
select is_deleted,
       case when is_deleted then "unstuck".record_audit_entry(
         /*attachment*/'native', 'schedule-deleted', $1::text, $2::text, $3::text) end as is_audited
  from "unstuck"."delete_schedule"($1::text) is_deleted;

-- name: list_schedules
select coalesce(to_jsonb(schedule), '{"name": null}') || jsonb_build_object('now', clock.now) as record
  from (select now()) clock left join "unstuck"."list_schedules"() schedule on true;

-- name: run_schedule
select outcome, job_id
  from "unstuck"."run_schedule"($1::text, $2::text::timestamptz, $3::text::timestamptz, ($4::text)::jsonb);
