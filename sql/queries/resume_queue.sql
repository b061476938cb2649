select "unstuck"."resume_queue"($1::text, $2::text, $3::text) as was_paused
