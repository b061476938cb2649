select "unstuck".prune_rate_limits($1::int) as deleted
