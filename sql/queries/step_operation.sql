select "unstuck"."step_operation"($1::text::uuid, $2::text::uuid, $3::int, $4::text, $5::bigint) as answer
