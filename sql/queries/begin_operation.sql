select "unstuck"."begin_operation"(($1::text)::jsonb) as answer
