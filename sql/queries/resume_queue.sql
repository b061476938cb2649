select "unstuck"."resume_queue"($1::text) as was_paused
