select deleted, next from "unstuck"."prune_jobs"($1::int, $2::int, $3::text::/*id*/uuid)
