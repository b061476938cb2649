select "unstuck"."pause_queue"($1::text, $2::bigint, $3::text, $4::text) as is_new
