select "unstuck"."explain_job"($1::text::/*id*/uuid, ($2::text)::jsonb) as facts
