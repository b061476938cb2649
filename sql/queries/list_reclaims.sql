select "unstuck"."list_reclaims"($1::text, $2::text, $3::text::bigint, $4::int) as page
