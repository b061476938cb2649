select outcome, job_id
  from "unstuck"."run_schedule"($1::text, $2::text::timestamptz, $3::text::timestamptz, ($4::text)::jsonb)
