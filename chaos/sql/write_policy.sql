select unstuck.write_policy($1, ($2::text)::jsonb) as policy
