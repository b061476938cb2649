select "unstuck"."map_dependency"($1::text, $2::text) as is_changed
