select job_id, place, outcome
  from "unstuck".list_operation_jobs(/*attachment*/'native', $1::text::uuid, $2::int, $3::int)
