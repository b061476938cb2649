select "unstuck"."list_jobs"(($1::text)::jsonb, $2::int, $3::text::/*id*/uuid, $4::boolean) as page
