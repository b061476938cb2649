select "unstuck"."job_record"($1::text::/*id*/uuid) as job
