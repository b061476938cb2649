select "unstuck"."delete_schedule"($1::text) as is_deleted
