-- The progress that a running job has reported (docs/adr/0050). NULL for jobs that report none, and in no index: a
-- report is a HOT update.
alter table "unstuck"."jobs" add column if not exists "progress_value" float8;
alter table "unstuck"."jobs" add column if not exists "progress_text" text;
