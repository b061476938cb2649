select "unstuck"."sweep_step"(
         ($1::text)::jsonb, $2::int, ($3::text)::jsonb, ($4::text)::jsonb, $5::text, $6::text, true) as step
