select * from "unstuck"."set_mode"($1::text, $2::text)
