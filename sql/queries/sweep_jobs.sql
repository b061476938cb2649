select "unstuck"."sweep_jobs"(($1::text)::jsonb, $2::int, ($3::text)::jsonb, ($4::text)::jsonb, $5::text, $6::text)
    as step
