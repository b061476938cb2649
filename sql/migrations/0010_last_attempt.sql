-- When the newest attempt began, beside the first (started_at).
alter table "unstuck"."jobs" add column if not exists "last_attempt_at" timestamptz;
