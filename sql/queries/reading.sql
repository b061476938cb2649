-- Jobs, events, health and policy as they are now.

-- name: get_job
select "unstuck"."job_record"($1::text::/*id*/uuid) as job;

-- name: list_jobs
select "unstuck"."list_jobs"(($1::text)::jsonb, $2::int, $3::text::/*id*/uuid, $4::boolean) as page;

-- name: find_job_ids
select id from "unstuck"."find_job_ids"($1::text, $2::int);

-- name: list_events
select id::text, job_id, type, data, "unstuck".iso_utc(at) as at
  from "unstuck".events
 where attachment = /*attachment*/'native' and job_id = $1::text
 order by events.id;

-- name: explain_job
select "unstuck"."explain_job"($1::text::/*id*/uuid, ($2::text)::jsonb) as facts;

-- name: group_dead_jobs
select to_jsonb(cause) as record from "unstuck"."group_dead_jobs"($1::int, $2::text) cause;

-- name: read_health
select health.waiting, health.due, health.running, health.overdue, health.oldest_overdue_ms, health.oldest_due_ms,
       health.unjudged, health.reaper_age_ms, health.hold_reason, health.released_often,
       to_jsonb(health.at_least) as at_least, health.queues,
       "unstuck".hidden_jobs(to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs'))) as hidden
  from "unstuck"."read_health"(($1::text)::jsonb, $2::int) health;

-- name: read_hidden
select "unstuck".hidden_jobs(to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs'))) as hidden;

-- name: read_slo
select * from "unstuck"."read_slo"($1::bigint, $2::bigint, ($3::text)::jsonb);

-- name: read_policy
select to_jsonb("unstuck".policy_of(/*attachment*/'native')) as policy;
